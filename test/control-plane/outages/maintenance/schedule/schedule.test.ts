import { describe, expect, it } from "vitest";
import { nextStart, occurrencesBetween } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import {
  firstStarts,
  scheduleAt,
  showLocal,
  zoneOf,
} from "#test/control-plane/outages/maintenance/schedule/schedules.ts";

const utc = (text: string) => Date.parse(text);
const show = (instants: readonly number[]) => instants.map((at) => new Date(at).toISOString().slice(0, 16));

/** Zone, first local start, change of the clocks, and the instants of three daily occurrences around it. */
const CHANGES: readonly (readonly [zone: string, start: string, change: string, instants: readonly string[]])[] = [
  [
    "Europe/Berlin",
    "2026-03-28T02:30",
    "skip 02:00-03:00 on 29 March",
    ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"],
  ],
  [
    "Europe/Berlin",
    "2026-10-24T02:30",
    "repeat 02:00-03:00 on 25 October",
    ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
  ],
  [
    "America/New_York",
    "2026-03-07T02:30",
    "skip 02:00-03:00 on 8 March",
    ["2026-03-07T07:30", "2026-03-08T07:30", "2026-03-09T06:30"],
  ],
  [
    "America/New_York",
    "2026-10-31T01:30",
    "repeat 01:00-02:00 on 1 November",
    ["2026-10-31T05:30", "2026-11-01T05:30", "2026-11-02T06:30"],
  ],
  [
    "Australia/Lord_Howe",
    "2026-10-03T02:15",
    "skip 02:00-02:30 on 4 October",
    ["2026-10-02T15:45", "2026-10-03T15:45", "2026-10-04T15:15"],
  ],
  [
    "Australia/Lord_Howe",
    "2026-04-04T01:45",
    "repeat 01:30-02:00 on 5 April",
    ["2026-04-03T14:45", "2026-04-04T14:45", "2026-04-05T15:15"],
  ],
];

describe("a daily window in a zone whose clocks change", () => {
  it.each(CHANGES)("in %s at %s, where clocks %s, keeps its clock time", (zone, start, _change, instants) => {
    expect(show(firstStarts(scheduleAt(zone, start, "FREQ=DAILY"), 3, 5))).toEqual(instants);
  });

  it("counts a start in a skipped hour, which is an hour later", () => {
    const schedule = scheduleAt("Europe/Berlin", "2026-03-28T02:30", "FREQ=DAILY;COUNT=2");
    const shown = firstStarts(schedule, 5, 9).map((at) => showLocal(zoneOf("Europe/Berlin"), at));
    expect(shown).toEqual(["2026-03-28T02:30", "2026-03-29T03:30"]);
  });

  it("is open once where a moved start meets another one, and in order where it passes one", () => {
    const twice = scheduleAt("Europe/Berlin", "2026-03-29T00:00", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=30;COUNT=2");
    expect(show(firstStarts(twice, 5, 3))).toEqual(["2026-03-29T01:30"]);
    const passed = scheduleAt("Europe/Berlin", "2026-03-29T00:00", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;COUNT=3");
    expect(show(firstStarts(passed, 5, 3))).toEqual(["2026-03-29T01:00", "2026-03-29T01:30"]);
    const rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;BYSETPOS=2,3";
    const reversed = scheduleAt("Europe/Berlin", "2026-03-29T00:00", rule);
    expect(show(firstStarts(reversed, 2, 1))).toEqual(["2026-03-29T01:00", "2026-03-29T01:30"]);
    expect(nextStart(reversed, utc("2026-03-28T23:30Z"))).toBe(utc("2026-03-29T01:00Z"));
  });

  it("lasts as many seconds as on other days", () => {
    const schedule = { ...scheduleAt("Europe/Berlin", "2026-03-28T01:30", "FREQ=DAILY"), durationMs: 7_200_000 };
    const spans = occurrencesBetween(schedule, { from: utc("2026-03-28T00:00Z"), to: utc("2026-04-01T00:00Z") });
    expect(new Set(spans.map(({ from, to }) => to - from))).toEqual(new Set([7_200_000]));
  });

  it("starts at the second of two equal clock times if it was written so", () => {
    const schedule = {
      ...scheduleAt("Europe/Berlin", "2026-10-25T02:30", "FREQ=DAILY"),
      startsAt: utc("2026-10-25T01:30Z"),
    };
    expect(show(firstStarts(schedule, 2, 5))).toEqual(["2026-10-25T01:30", "2026-10-26T01:30"]);
  });

  it("skips a day that a zone skipped as a whole", () => {
    // Samoa went from 29 to 31 December 2011. A start on the 30th is a day later, at the same instant as the next one.
    const schedule = scheduleAt("Pacific/Apia", "2011-12-28T12:00", "FREQ=DAILY;COUNT=4");
    expect(show(firstStarts(schedule, 9, 9))).toEqual(["2011-12-28T22:00", "2011-12-29T22:00", "2011-12-30T22:00"]);
  });
});

describe("a repeated window", () => {
  const startsIn = (zone: string, start: string, rule: string, most = 5, days = 5_000) =>
    firstStarts(scheduleAt(zone, start, rule), most, days).map((at) => showLocal(zoneOf(zone), at).slice(0, 10));

  it("is open on leap days alone if it starts on one", () => {
    expect(startsIn("UTC", "2024-02-29T01:00", "FREQ=YEARLY", 3)).toEqual(["2024-02-29", "2028-02-29", "2032-02-29"]);
    expect(startsIn("UTC", "2096-02-29T01:00", "FREQ=YEARLY", 2)).toEqual(["2096-02-29", "2104-02-29"]);
  });

  it("leaves out months that lack its day, and finds the last day of each month", () => {
    const days = ["2026-01-31", "2026-03-31", "2026-05-31", "2026-07-31", "2026-08-31"];
    expect(startsIn("UTC", "2026-01-31T01:00", "FREQ=MONTHLY")).toEqual(days);
    expect(startsIn("UTC", "2028-01-31T01:00", "FREQ=MONTHLY;BYMONTHDAY=-1", 3)).toEqual([
      "2028-01-31",
      "2028-02-29",
      "2028-03-31",
    ]);
  });

  it("starts with the first day that matches its rule", () => {
    expect(startsIn("UTC", "2026-01-01T01:00", "FREQ=WEEKLY;BYDAY=SU", 2)).toEqual(["2026-01-04", "2026-01-11"]);
  });

  it("belongs to the year of its week, also where the week begins in December", () => {
    const days = ["2024-01-01", "2025-12-29", "2028-01-03", "2029-12-31", "2031-12-29"];
    expect(startsIn("UTC", "2024-01-01T09:00", "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1;BYDAY=MO")).toEqual(days);
    const last = ["2026-12-31", "2027-12-30", "2028-12-28"];
    expect(startsIn("UTC", "2026-01-10T09:00", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=TH", 3)).toEqual(last);
  });

  it("ends with UNTIL, which is inclusive: an instant, a time of the zone, or a day of the zone", () => {
    const until = (text: string) => startsIn("Europe/Berlin", "2026-06-01T02:00", `FREQ=DAILY;UNTIL=${text}`, 9);
    const three = ["2026-06-01", "2026-06-02", "2026-06-03"];
    expect(until("20260603T000000Z")).toEqual(three);
    expect(until("20260602T235959Z")).toEqual(three.slice(0, 2));
    expect(until("20260603T020000")).toEqual(three);
    expect(until("20260603T015959")).toEqual(three.slice(0, 2));
    expect(until("20260603")).toEqual(three);
  });

  it("selects with BYSETPOS among all of a period, also before its start", () => {
    const rule = "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1";
    expect(startsIn("UTC", "2026-01-15T01:00", rule, 2)).toEqual(["2026-02-02", "2026-03-02"]);
  });

  it("knows its next start, however far away, and that there is none", () => {
    const leap = scheduleAt("UTC", "2024-02-29T01:00", "FREQ=YEARLY");
    expect(nextStart(leap, utc("2024-02-29T01:00Z"))).toBe(utc("2024-02-29T01:00Z"));
    expect(nextStart(leap, utc("2024-02-29T01:00:00.001Z"))).toBe(utc("2028-02-29T01:00Z"));
    expect(nextStart(scheduleAt("UTC", "2026-01-01T00:00", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"), 0)).toBeNull();
    expect(nextStart(scheduleAt("UTC", "2026-01-01T00:00", "FREQ=DAILY;COUNT=3"), utc("2026-01-04T00:00Z"))).toBeNull();
    const once = scheduleAt("UTC", "2026-01-01T00:00", null);
    expect([nextStart(once, 0), nextStart(once, once.startsAt + 1)]).toEqual([once.startsAt, null]);
  });

  it("overlaps a span if only its end lies in it", () => {
    const schedule = scheduleAt("UTC", "2026-01-01T00:00", "FREQ=DAILY");
    const overlapping = (from: string, to: string) =>
      occurrencesBetween(schedule, { from: utc(from), to: utc(to) }).length;
    expect(overlapping("2026-01-02T00:59:59.999Z", "2026-01-02T01:00Z")).toBe(1);
    expect(overlapping("2026-01-02T01:00Z", "2026-01-03T00:00Z")).toBe(0);
    expect(overlapping("2026-01-02T01:00Z", "2026-01-03T00:00:00.001Z")).toBe(1);
  });
});

describe("a time zone", () => {
  it("has a name of the IANA database, not an offset", () => {
    for (const name of ["UTC", "Europe/Berlin", "europe/berlin", "Etc/GMT+5", "America/Argentina/Buenos_Aires"]) {
      expect([name, openTimeZone(name)?.name]).toEqual([name, name]);
    }
    for (const name of [
      "",
      "+02:00",
      "Mars/Olympus",
      "Europe/Berlin ",
      "Europe/Berl\u0000in",
      "x".repeat(65),
      "UTC+1",
    ]) {
      expect([name, openTimeZone(name)]).toEqual([name, null]);
    }
  });
});
