import type { Ask, Count } from "#control-plane/limits/store.ts";

/** Which limit a request met; null where it may go on. */
export type Denied = "minute" | "day" | null;

/** What one request is told about its account's limits. */
export interface Verdict {
  readonly denied: Denied;
  readonly minuteLimit: number;
  readonly minuteRemaining: number;
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly dayLimit: number;
  readonly dayRemaining: number;
  /** Days since the epoch. */
  readonly day: number;
}

/**
 * The verdict of the request with this rank (0 first) among those of one ask. The granted ones are the first; of the
 * rest, those the minute alone would have let pass met the day's limit, the others the minute's.
 */
export function verdictOf(ask: Ask, count: Count, rank: number): Verdict {
  const minuteBefore = count.minuteCount - count.granted;
  const dayBefore = count.dayCount - (ask.countsDay ? count.granted : 0);
  const admitted = rank < count.granted;
  const taken = admitted ? rank + 1 : count.granted;
  return {
    denied: admitted ? null : minuteBefore + rank < ask.minuteLimit ? "day" : "minute",
    minuteLimit: ask.minuteLimit,
    minuteRemaining: Math.max(0, ask.minuteLimit - minuteBefore - taken),
    minute: count.minute,
    dayLimit: ask.dayLimit,
    dayRemaining: Math.max(0, ask.dayLimit - dayBefore - (ask.countsDay ? taken : 0)),
    day: count.day,
  };
}
