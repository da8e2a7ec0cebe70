import type { LimitState } from "#control-plane/access/limit-state.ts";
import type { RequestsToCount, RequestCount } from "#control-plane/limits/store.ts";

/**
 * Returns the state of the limits after one of the requests that a statement counted together. `rank` is its position,
 * 0 first. The first requests are the granted ones. Of the others, those that the minute's limit alone would admit are
 * refused by the day's limit, the rest by the minute's.
 */
export function limitStateOf(ask: RequestsToCount, count: RequestCount, rank: number): LimitState {
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
