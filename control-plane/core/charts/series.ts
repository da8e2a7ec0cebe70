/** Response times of one step, in milliseconds; null if there are none. */
export interface LatencyPoint {
  /** Beginning of the step. */
  readonly at: Date;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Response times of one location, or of all together. */
export interface LatencySeries {
  readonly name: string;
  /** The earliest first. */
  readonly points: readonly LatencyPoint[];
  /** Of the newest step with a value, and of the whole range; null if there are none. */
  readonly last: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Reports whether there is a response time; a number that is none counts as absent. */
export function isKnown(value: number | null): value is number {
  return value !== null && Number.isFinite(value);
}
