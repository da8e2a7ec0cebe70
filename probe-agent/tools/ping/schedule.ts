/** How many echoes fit, and how long to wait after the last one; milliseconds. */
interface Schedule {
  readonly count: number;
  readonly waitMs: number;
  readonly limitations: readonly string[];
}

// Long enough for any reply that is not given up for lost, short enough not to keep the caller of a dead host waiting.
const MOST_WAIT_MS = 2_000;
const LEAST_WAIT_MS = 400;

/** Divides what the look-up left of the check's time; null where not even one echo fits. */
export function scheduleEchoes(count: number, intervalMs: number, leftMs: number): Schedule | null {
  const fitting = Math.floor((leftMs - LEAST_WAIT_MS) / intervalMs) + 1;
  if (fitting < 1) return null;
  const sent = Math.min(count, fitting);
  return {
    count: sent,
    waitMs: Math.min(MOST_WAIT_MS, leftMs - (sent - 1) * intervalMs),
    limitations:
      sent < count
        ? [`The name look-up took so long that only ${sent} of ${count} echoes fit before the deadline.`]
        : [],
  };
}
