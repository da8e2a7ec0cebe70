/** Length of the minute window, in seconds. */
export const MINUTE_SECONDS = 60;
/** Length of the day window, in seconds. */
export const DAY_SECONDS = 86_400;

/** The fixed UTC windows that contain a moment, numbered from the epoch. */
export interface Windows {
  /** Whole minutes since 1970-01-01T00:00Z. */
  readonly minute: number;
  /** Whole days since 1970-01-01. */
  readonly day: number;
}

/**
 * Returns the windows of a moment, given in milliseconds since the epoch. As in all Unix time, there are no leap
 * seconds.
 */
export function windowsAt(nowMs: number): Windows {
  const seconds = nowMs / 1_000;
  return { minute: Math.floor(seconds / MINUTE_SECONDS), day: Math.floor(seconds / DAY_SECONDS) };
}

/** Returns the end of a minute window, in Unix seconds. */
export function minuteEnd(minute: number): number {
  return (minute + 1) * MINUTE_SECONDS;
}

/** Returns the end of a day window, the next 00:00 UTC, in Unix seconds. */
export function dayEnd(day: number): number {
  return (day + 1) * DAY_SECONDS;
}

/** Returns the whole seconds until a moment in Unix seconds, at least 1, for Retry-After. */
export function secondsUntil(endSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(endSeconds - nowMs / 1_000));
}
