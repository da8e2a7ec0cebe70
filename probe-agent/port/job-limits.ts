/** What bounds one job: every port of its Net is built with these and obeys them. */
export interface JobLimits {
  /** Aborted at the deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** The deadline on the monotonic clock, milliseconds. */
  readonly deadline: number;
  /** The control plane's time for this job, carried by the monotonic clock. */
  now(): Date;
}
