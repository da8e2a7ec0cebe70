import { expect, it } from "vitest";
import { writeCronLine } from "#control-plane/heartbeats/cron-line.ts";
import { openSchedule } from "#control-plane/heartbeats/deadline.ts";
import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";

const URL = "https://v.example/api/heartbeat/T";
const CURL = `curl -fsS -m 10 --retry 5 -o /dev/null ${URL}`;

const lineOf = (over: Partial<HeartbeatSettings>): string =>
  writeCronLine({ period_seconds: 300, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any", ...over }, URL);

it.each([
  [60, "* * * * *"],
  [119, "* * * * *"],
  [300, "*/5 * * * *"],
  [420, "*/6 * * * *"],
  [2_400, "*/30 * * * *"],
  [3_600, "0 * * * *"],
  [5_400, "0 * * * *"],
  [18_000, "0 */4 * * *"],
  [86_400, "0 0 * * *"],
  [31_622_400, "0 0 * * *"],
])("a period of %i s becomes an expression that runs at least as often", (period, expected) => {
  expect(lineOf({ period_seconds: period })).toBe(`${expected} ${CURL}`);
  const schedule = openSchedule(expected, "UTC");
  const first = schedule?.nextRun(0) ?? 0;
  const second = schedule?.nextRun(first) ?? 0;
  expect(second - first).toBeLessThanOrEqual(period * 1_000);
});

it.each([30, 59])("a period of %i s becomes two calls a minute, half a minute apart", (period) => {
  expect(lineOf({ period_seconds: period })).toBe(`* * * * * ${CURL} & sleep 30; ${CURL}`);
});

it.each(["UTC", "utc", "Etc/UTC"])("a cron expression in the zone %s is taken as it is", (timezone) => {
  expect(lineOf({ period_seconds: 30, cron: "30 2 * * 1-5", timezone })).toBe(`30 2 * * 1-5 ${CURL}`);
});

it.each(["Europe/Berlin", "europe/berlin"])(
  "a cron expression in the zone %s follows a line that sets it",
  (timezone) => {
    const [comment, ...lines] = lineOf({ cron: "30 2 * * *", timezone }).split("\n");
    expect(comment).toMatch(/^# The times below are in the zone Europe\/Berlin\. /);
    expect(lines).toEqual(["CRON_TZ=Europe/Berlin", `30 2 * * * ${CURL}`]);
  },
);

it("a period needs no time zone", () => {
  expect(lineOf({ timezone: "Europe/Berlin" })).toBe(`*/5 * * * * ${CURL}`);
});
