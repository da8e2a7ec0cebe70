/** Seconds in the minute window. */
export const MINUTE_SECONDS = 60;
/** Seconds in the day window. */
export const DAY_SECONDS = 86_400;

/** The fixed UTC windows a moment lies in, as numbers since the epoch. */
export interface Windows {
  /** Whole minutes since 1970-01-01T00:00Z. */
  readonly minute: number;
  /** Whole days since 1970-01-01. */
  readonly day: number;
}

/** The windows of a moment, in milliseconds since the epoch. UTC has no leap seconds here, as in every Unix time. */
export function windowsAt(nowMs: number): Windows {
  const seconds = nowMs / 1_000;
  return { minute: Math.floor(seconds / MINUTE_SECONDS), day: Math.floor(seconds / DAY_SECONDS) };
}

/** Unix seconds at which a minute window ends. */
export function minuteEnd(minute: number): number {
  return (minute + 1) * MINUTE_SECONDS;
}

/** Unix seconds at which a day window ends: the next 00:00 UTC. */
export function dayEnd(day: number): number {
  return (day + 1) * DAY_SECONDS;
}

/** Whole seconds to wait for a moment (Unix seconds), at least 1, for Retry-After. */
export function secondsUntil(endSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(endSeconds - nowMs / 1_000));
}
