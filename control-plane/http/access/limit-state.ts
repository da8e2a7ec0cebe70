/** The limit that refused a request; null if the request is admitted. */
type Denied = "minute" | "day" | null;

/** State of a caller's limits after one request was counted. */
export interface LimitState {
  readonly denied: Denied;
  readonly minuteLimit: number;
  readonly minuteRemaining: number;
  /** Number of the minute window: minutes since the epoch. */
  readonly minute: number;
  readonly dayLimit: number;
  readonly dayRemaining: number;
  /** Number of the day window: days since the epoch. */
  readonly day: number;
}
