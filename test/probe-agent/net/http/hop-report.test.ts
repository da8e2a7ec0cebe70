import { expect, it } from "vitest";
import { timingOf } from "#probe-agent/net/http/hop-report.ts";

it("reports the phases of a hop in microseconds, and they add up to the total", () => {
  const timing = timingOf([100, 101.5, 103, 110, 130.25], 131);
  expect(timing).toEqual({ dns: 1_500, connect: 1_500, tls: 7_000, ttfb: 20_250, transfer: 750, total: 31_000 });
  const { total, ...phases } = timing;
  expect(Object.values(phases).reduce((sum, phase) => sum + phase, 0)).toBe(total);
});

it("reports 0 for a phase that did not happen", () => {
  expect(timingOf([100, 100, 104, 104, 120], 125)).toMatchObject({ dns: 0, connect: 4_000, tls: 0 });
});
