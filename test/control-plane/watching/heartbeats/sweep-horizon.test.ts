import { expect, it } from "vitest";
import { judgeableUntil } from "#control-plane/watching/heartbeats/sweeper.ts";

it.each<readonly [what: string, now: number, oldestArrival: number | null, until: number]>([
  ["now, if no ping waits", 500, null, 500],
  ["before the arrival of the oldest ping that waits", 500, 400, 399],
  ["before a ping that arrives in the same millisecond", 500, 500, 499],
  ["now, if the clock was set back after the ping arrived", 500, 900, 500],
])("deadlines are judged up to %s", (_what, now, oldestArrival, until) => {
  expect(judgeableUntil(now, oldestArrival)).toBe(until);
});
