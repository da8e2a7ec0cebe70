/**
 * Returns the time up to which deadlines can be judged, Unix milliseconds: a ping that arrived in time and is not recorded
 * yet must not be missed. `oldestArrival` is when the first ping arrived that waits in this replica; null: none waits.
 */
export function judgeableUntil(now: number, oldestArrival: number | null): number {
  return oldestArrival === null ? now : Math.min(now, oldestArrival - 1);
}
