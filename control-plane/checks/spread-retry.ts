/** Shortest wait of a postponed job, milliseconds. */
const SOONEST_MS = 250;
/** Longest wait, milliseconds: a target that is quick again is used again that soon, however many jobs were postponed. */
const LATEST_MS = 15_000;

/**
 * Returns the time at which a postponed job tries again: `spacingMs` after the one that was postponed before it, whose
 * time was `last`. Times are monotonic milliseconds. Times beyond the longest wait begin again at half of it, so that
 * jobs which do not fit come back evenly over that half.
 */
export function spreadRetry(last: number, now: number, spacingMs: number): number {
  const next = Math.max(last, now + SOONEST_MS) + spacingMs;
  return next > now + LATEST_MS ? now + LATEST_MS / 2 : next;
}
