import { expect, it } from "vitest";
import { writeCronLine } from "#control-plane/heartbeats/cron-line.ts";
import { openSchedule } from "#control-plane/heartbeats/deadline.ts";

const expression = (period_seconds: number, cron: string | null = null): string =>
  writeCronLine({ period_seconds, grace_seconds: 60, cron, timezone: "UTC", methods: "any" }, "https://v.example/x")
    .split(" ")
    .slice(0, 5)
    .join(" ");

it.each([
  [30, "* * * * *"],
  [60, "* * * * *"],
  [300, "*/5 * * * *"],
  [420, "*/6 * * * *"],
  [2_400, "*/30 * * * *"],
  [3_600, "0 * * * *"],
  [5_400, "0 * * * *"],
  [18_000, "0 */4 * * *"],
  [86_400, "0 0 * * *"],
  [31_622_400, "0 0 * * *"],
])("a period of %i s becomes an expression that runs at least as often", (period, expected) => {
  expect(expression(period)).toBe(expected);
  const schedule = openSchedule(expected, "UTC");
  const first = schedule?.nextRun(0) ?? 0;
  const second = schedule?.nextRun(first) ?? 0;
  // A crontab has no shorter step than a minute.
  expect(second - first).toBeLessThanOrEqual(Math.max(period, 60) * 1_000);
});

it("a cron expression is taken as it is", () => {
  expect(expression(60, "30 2 * * 1-5")).toBe("30 2 * * 1-5");
});

it("a line retries, is quiet, and ends", () => {
  const line = writeCronLine(
    { period_seconds: 300, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any" },
    "https://v.example/api/heartbeat/T",
  );
  expect(line).toBe("*/5 * * * * curl -fsS -m 10 --retry 5 -o /dev/null https://v.example/api/heartbeat/T");
});
