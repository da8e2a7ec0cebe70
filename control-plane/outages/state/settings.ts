/** The settings on which a monitor's state depends. Durations are in milliseconds. */
export interface StateSettings {
  /** The locations that the monitor is checked from, at least one, each once. */
  readonly locations: readonly string[];
  /** Those of them that no connected probe serves. They have no vote if the monitor has several locations. */
  readonly unserved: readonly string[];
  /** How many fresh locations must fail, all of them if there are fewer; majority: more than half of them. */
  readonly quorum: "majority" | number;
  /** With one location: further checks that must fail before the monitor is down; at least 2 if it is the only one left. */
  readonly retries: number;
  /** How many times in a row a location must succeed before it counts as up again after an outage. */
  readonly recovery: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** A slower answer counts as degraded; null: none does. */
  readonly degradedMs: number | null;
  /** Pause between two reminders of an outage; null: no reminders. */
  readonly repeatMs: number | null;
  /**
   * Observations come from outside, as the pings of a heartbeat do, and cannot be repeated on request: a verdict counts
   * until the next one, no rechecks are planned, and flapping does not raise the confirmation.
   */
  readonly isPassive: boolean;
}
