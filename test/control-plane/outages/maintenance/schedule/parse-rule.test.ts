import { describe, expect, it } from "vitest";
import { parseRule } from "#control-plane/outages/maintenance/schedule/parse-rule.ts";
import { nextStart, occurrencesBetween } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { scheduleAt } from "#test/control-plane/outages/maintenance/schedule/schedules.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const DAY_MS = 86_400_000;
const list = (length: number, from = 0) => Array.from({ length }, (_, index) => index + from).join(",");

/** Rules that are refused, with a word of the reason. */
const REFUSED: readonly (readonly [rule: string, reason: RegExp])[] = [
  ["", /NAME=VALUE/],
  [";;;", /NAME=VALUE/],
  ["every saturday", /NAME=VALUE/],
  ["BYDAY=SA", /needs FREQ/],
  ["FREQ=", /DAILY, WEEKLY, MONTHLY or YEARLY/],
  ["FREQ=SECONDLY", /DAILY/],
  ["FREQ=MINUTELY;INTERVAL=60", /DAILY/],
  ["FREQ=HOURLY", /DAILY/],
  ["FREQ=WEEKLY;FREQ=DAILY", /FREQ twice/],
  ["FREQ=DAILY;__PROTO__=1", /NAME=VALUE/],
  ["FREQ=DAILY;CONSTRUCTOR=1", /NAME=VALUE/],
  ["FREQ=DAILY;EXDATE=20260101T000000Z", /EXDATE/],
  ["FREQ=DAILY;RSCALE=GREGORIAN;SKIP=FORWARD", /NAME=VALUE/],
  ["DTSTART=20260101T000000Z;FREQ=DAILY", /DTSTART/],
  ["DTSTART;TZID=UTC:20260101T000000Z;FREQ=DAILY", /DTSTART/],
  ["FREQ=DAILY;INTERVAL=0", /INTERVAL/],
  ["FREQ=DAILY;INTERVAL=-1", /INTERVAL/],
  ["FREQ=DAILY;INTERVAL=1e3", /INTERVAL/],
  ["FREQ=DAILY;INTERVAL=3651", /at most 3650/],
  ["FREQ=YEARLY;INTERVAL=11", /at most 10/],
  ["FREQ=DAILY;COUNT=0", /COUNT/],
  ["FREQ=DAILY;COUNT=10001", /COUNT/],
  ["FREQ=DAILY;COUNT=99999999999999999999", /COUNT/],
  ["FREQ=DAILY;COUNT=2;UNTIL=20260101", /COUNT and UNTIL/],
  ["FREQ=DAILY;UNTIL=20260230", /UNTIL/],
  ["FREQ=DAILY;UNTIL=20260101T250000Z", /UNTIL/],
  ["FREQ=DAILY;UNTIL=2026-01-01", /UNTIL/],
  ["FREQ=DAILY;UNTIL=20260101T000000+0200", /UNTIL/],
  ["FREQ=MONTHLY;BYMONTH=13", /BYMONTH/],
  ["FREQ=MONTHLY;BYMONTH=-1", /BYMONTH/],
  ["FREQ=MONTHLY;BYMONTHDAY=0", /BYMONTHDAY/],
  ["FREQ=MONTHLY;BYMONTHDAY=32", /BYMONTHDAY/],
  ["FREQ=MONTHLY;BYMONTHDAY=1,", /BYMONTHDAY/],
  ["FREQ=WEEKLY;BYMONTHDAY=1", /BYMONTHDAY/],
  ["FREQ=YEARLY;BYMONTHDAY=1", /needs BYMONTH/],
  ["FREQ=MONTHLY;BYYEARDAY=1", /BYYEARDAY/],
  ["FREQ=YEARLY;BYYEARDAY=367", /BYYEARDAY/],
  ["FREQ=WEEKLY;BYWEEKNO=1;BYDAY=MO", /BYWEEKNO/],
  ["FREQ=YEARLY;BYWEEKNO=1", /needs BYDAY/],
  ["FREQ=YEARLY;BYWEEKNO=54;BYDAY=MO", /BYWEEKNO/],
  ["FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", /BYWEEKNO/],
  ["FREQ=WEEKLY;BYDAY=1MO", /BYDAY with a number/],
  ["FREQ=MONTHLY;BYDAY=0MO", /BYDAY/],
  ["FREQ=MONTHLY;BYDAY=54MO", /BYDAY/],
  ["FREQ=WEEKLY;BYDAY=XX", /BYDAY/],
  ["FREQ=WEEKLY;WKST=1MO", /WKST/],
  ["FREQ=DAILY;BYHOUR=24", /BYHOUR/],
  ["FREQ=DAILY;BYHOUR=-1", /BYHOUR/],
  ["FREQ=DAILY;BYSECOND=60", /BYSECOND/],
  ["FREQ=DAILY;BYSETPOS=1", /BYSETPOS/],
  ["FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0", /BYSETPOS/],
  ["FREQ=MONTHLY;BYDAY=MO;BYSETPOS=367", /BYSETPOS/],
  ["FREQ=DAILY;BYHOUR=0,1,2,3,4;BYMINUTE=0,10,20,30,40", /25 starts a day/],
  [`FREQ=DAILY;BYHOUR=${list(24)};BYMINUTE=${list(60)};BYSECOND=${list(60)};BYSETPOS=-1`, /86400 starts a day/],
];

describe("a rule", () => {
  it.each(REFUSED)("%s is refused: %s", (rule, reason) => {
    expect(parseRule(rule)).toEqual({ ok: false, message: expect.stringMatching(reason) as unknown });
  });

  it("is read in upper and lower case, with and without a prefix, and kept without it", () => {
    for (const text of ["FREQ=WEEKLY;BYDAY=SA", "rrule:freq=weekly;byday=sa", " RRULE:FREQ=WEEKLY;BYDAY=SA "]) {
      expect(parseRule(text)).toMatchObject({ ok: true, text: "FREQ=WEEKLY;BYDAY=SA" });
    }
  });

  it("is ordered: the order and repetition of its items mean nothing", () => {
    const starts = (rule: string) => {
      const schedule = scheduleAt("UTC", "2026-01-01T00:00", rule);
      return occurrencesBetween(schedule, { from: schedule.startsAt, to: schedule.startsAt + 90 * DAY_MS });
    };
    expect(starts("BYHOUR=9,3,9;BYMONTHDAY=20,-1,5;FREQ=MONTHLY")).toEqual(
      starts("FREQ=MONTHLY;BYMONTHDAY=-1,5,20;BYHOUR=3,9"),
    );
  });
});

/** Rules made to be expensive: never open, rarely open, or with as many starts as are accepted. */
const EXPENSIVE = [
  "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
  "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=10000",
  "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11",
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;INTERVAL=10",
  "FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO;BYMONTH=6",
  "FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1",
  "FREQ=MONTHLY;BYDAY=5MO;BYSETPOS=2",
  `FREQ=YEARLY;BYYEARDAY=${list(100, 267)};BYHOUR=${list(24)};BYSETPOS=366,-366`,
  `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=${list(24)};BYSETPOS=-1`,
  `FREQ=DAILY;BYHOUR=${list(24)};COUNT=10000`,
  `FREQ=DAILY;BYHOUR=${list(24)}`,
  `FREQ=YEARLY;BYYEARDAY=${list(100, 1)};BYSETPOS=${list(90, 277)}`,
  "FREQ=DAILY;UNTIL=99991231T235959Z",
];

describe("an expensive rule", () => {
  it.each(EXPENSIVE)("takes no noticeable time, however long ago it started: %s", (rule) => {
    const schedule = scheduleAt("America/New_York", "2000-01-01T00:00", rule);
    const now = Date.UTC(2099, 0, 1);
    const begun = cpuTime();
    const occurrences = occurrencesBetween(
      { ...schedule, durationMs: 30 * DAY_MS },
      { from: now, to: now + 60 * DAY_MS },
    );
    nextStart(schedule, now);
    nextStart(schedule, schedule.startsAt);
    // A request may take seconds; the rule takes far less, also on a busy machine.
    expect(cpuTime() - begun).toBeLessThan(2_000);
    expect(occurrences.length).toBeLessThanOrEqual(90 * 24 + 48);
  });
});
