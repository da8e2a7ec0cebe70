/** Days before an expiry at which a notice is due, the earliest first. */
const THRESHOLDS = [30, 14, 7, 1] as const;
const DAY_MS = 86_400_000;

/**
 * Returns the thresholds of something that lasts this long: only those below a third of it, because a certificate that
 * is renewed in time would cross the others in each of its lives. null: a lifetime that is not known.
 */
export function thresholdsOf(lifetimeMs: number | null): readonly number[] {
  return THRESHOLDS.filter((days) => lifetimeMs === null || days * DAY_MS * 3 < lifetimeMs);
}

/** Returns the tightest threshold that is reached, in days; null: none is. All times are Unix milliseconds. */
export function tightestReached(thresholds: readonly number[], expiresAt: number, now: number): number | null {
  const reached = thresholds.filter((days) => now >= expiresAt - days * DAY_MS);
  return reached.length === 0 ? null : Math.min(...reached);
}

/** Returns when the next threshold is reached, or the expiry; null: all of them lie behind. Unix milliseconds. */
export function nextCrossing(thresholds: readonly number[], expiresAt: number, now: number): number | null {
  const ahead = [...thresholds, 0].map((days) => expiresAt - days * DAY_MS).filter((at) => at > now);
  return ahead.length === 0 ? null : Math.min(...ahead);
}

/** Returns the whole days until an expiry, rounded down; negative after it. Unix milliseconds. */
export function daysLeft(expiresAt: number, now: number): number {
  return Math.floor((expiresAt - now) / DAY_MS);
}
