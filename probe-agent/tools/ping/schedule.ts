/** Number of echoes that fit, and the wait after the last one in milliseconds. */
interface Schedule {
  readonly count: number;
  readonly waitMs: number;
  readonly limitations: readonly string[];
}

// Long enough for any reply that does not count as lost, short enough not to delay the result for a dead host.
const MOST_WAIT_MS = 2_000;
const LEAST_WAIT_MS = 400;

/** Divides the time of the check that remains after the lookup. Null if not even one echo fits. */
export function scheduleEchoes(count: number, intervalMs: number, leftMs: number): Schedule | null {
  const fitting = Math.floor((leftMs - LEAST_WAIT_MS) / intervalMs) + 1;
  if (fitting < 1) return null;
  const sent = Math.min(count, fitting);
  return {
    count: sent,
    waitMs: Math.min(MOST_WAIT_MS, leftMs - (sent - 1) * intervalMs),
    limitations:
      sent < count
        ? [`The name lookup took so long that only ${sent} of ${count} echoes fit before the deadline.`]
        : [],
  };
}
