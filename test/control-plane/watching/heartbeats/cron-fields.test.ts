import { describe, expect, it } from "vitest";
import { findCronProblem, parseCron, parseStoredCron } from "#control-plane/watching/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";

const UTC = openTimeZone("UTC");
if (UTC === null) throw new Error("no UTC");

describe("a cron expression is refused", () => {
  // Each of these, but @reboot, is refused by crontab(1) of Debian too, or never runs there, or loses its end.
  it.each([
    ["60 * * * *", 'the minute field has "60"; allowed are 0-59'],
    ["* 24 * * *", 'the hour field has "24"; allowed are 0-23'],
    ["* * 0 * *", 'the day of month field has "0"; allowed are 1-31'],
    ["* * * 13 *", 'the month field has "13"; allowed are 1-12 or jan-dec'],
    ["* * * * 8", 'the day of week field has "8"; allowed are 0-7 or sun-sat'],
    ["* * * january *", 'the month field has "january"'],
    ["* jan * * *", 'the hour field has "jan"'],
    ["* * mon * *", 'the day of month field has "mon"'],
    ["1, * * * *", 'the minute field has ""'],
    ["0 1? * * *", 'the hour field has "1?"'],
    ["0 0 * * 0#1", 'the day of week field has "0#1"'],
    ["1-5-7 * * * *", 'the minute field has "1-5-7"'],
    ["*/0 * * * *", 'the minute field has the step 0 in "*/0"'],
    [
      "5/2 * * * *",
      'the minute field has a step after a single value, "5/2"; a step follows * or a range, such as 5-59/2',
    ],
    ["0 5-1 * * *", 'the hour field has the range "5-1", which goes down from 5 to 1'],
    ["0 0 * * fri-sun", 'the day of week field has the range "fri-sun", which goes down from 5 to 0'],
    ["0 0 * * 7-1", 'the day of week field has the range "7-1", which goes down from 7 to 1'],
    ["0 0 1 * 7-1", 'the day of week field has the range "7-1"'],
    ["99999999999 * * * *", 'the minute field has "99999999999"'],
    ["* * * *", "must have five fields (minute, hour, day of month, month, day of week) and has 4"],
    ["* * * * * *", "and has 6"],
    ["   ", "and has 0"],
    ["@reboot", "cannot be @reboot, which has no schedule"],
    [
      "@Daily",
      'has the unknown word "@Daily". Allowed are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly',
    ],
    ["@every 5m", 'has the unknown word "@every 5m"'],
    ["0\u00a03 * * *", "has the character U+00A0"],
    ["0 3 * * \u0661", "has the character U+0661"],
    ["0 3 * * \u{1f550}", "has the character U+1F550"],
    ["0 3 * * *\n* * * * *", "has the character U+000A"],
    ["0\t3 * * *", "has the character U+0009"],
    ["0 0 30 2 *", "must run some day"],
    ["0 0 31 4 */2", "must run some day"],
    [`${"1,".repeat(100)}1 * * * *`, "must have at most 200 characters"],
  ])("%j with a sentence that says why", (expression, message) => {
    expect(findCronProblem(expression)).toContain(message);
    expect(parseCron(expression, UTC)).toBeNull();
  });
});

describe("a cron expression that was taken once and is refused now", () => {
  it.each([
    ["0 0 * * fri-sun", "2026-11-27T12:00:00Z", "2026-11-28T00:00:00.000Z"],
    ["0 1-24/2 * * *", "2026-11-27T12:00:00Z", "2026-11-27T13:00:00.000Z"],
    ["0\u00a03 * * *", "2026-11-27T12:00:00Z", "2026-11-28T03:00:00.000Z"],
    ["0 0 31 4 */2", "2026-11-27T12:00:00Z", "2027-04-01T00:00:00.000Z"],
  ])("%j keeps its runs where it is stored", (expression, after, next) => {
    expect(findCronProblem(expression)).not.toBeNull();
    expect(new Date(parseStoredCron(expression, UTC)?.nextRun(Date.parse(after)) ?? 0).toISOString()).toBe(next);
  });
});
