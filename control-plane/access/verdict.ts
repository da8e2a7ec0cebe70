/** Which limit refused a request; null where the request may go on. */
type Denied = "minute" | "day" | null;

/** The state of a caller's limits after one request was counted. */
export interface Verdict {
  readonly denied: Denied;
  readonly minuteLimit: number;
  readonly minuteRemaining: number;
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly dayLimit: number;
  readonly dayRemaining: number;
  /** Days since the epoch. */
  readonly day: number;
}
