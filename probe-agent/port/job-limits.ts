/** Limits of one job. Every port of its Net is built with these and observes them. */
export interface JobLimits {
  /** Aborts at the deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** The deadline on the monotonic clock, in milliseconds. */
  readonly deadline: number;
  /** Maximum time of a look-up of a host's addresses, in milliseconds; absent: 5 s. The deadline applies in any case. */
  readonly lookUpMs?: number;
  /** Names the account of the job. Jobs without one count as those of one account. */
  readonly account?: string;
  /** Returns the control plane's time, advanced by the monotonic clock since the job's start. */
  now(): Date;
}
