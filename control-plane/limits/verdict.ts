import type { Verdict } from "#control-plane/access/verdict.ts";
import type { Ask, Count } from "#control-plane/limits/store.ts";

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
