import { describe, expect, it } from "vitest";
import { parseCron } from "#control-plane/watching/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";

function runs(expression: string, zoneName: string, after: string, count: number): string[] {
  const zone = openTimeZone(zoneName);
  const schedule = zone === null ? null : parseCron(expression, zone);
  if (schedule === null) throw new Error(`not a schedule: ${expression}`);
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    at = schedule.nextRun(at);
    found.push(new Date(at).toISOString().replace(".000Z", "Z"));
  }
  return found;
}

const BERLIN = "Europe/Berlin";
const NEW_YORK = "America/New_York";
/** Puts its clocks forward and back by half an hour. */
const LORD_HOWE = "Australia/Lord_Howe";

// Lines of all forms: cron-table.test.ts. What is refused, and why: cron-fields.test.ts.
describe("parseCron", () => {
  it("takes white space around and between the fields", () => {
    expect(runs(" 5   4 * * * ", "UTC", "2026-11-01T00:00:00Z", 1)).toEqual(["2026-11-01T04:05:00Z"]);
  });

  it("finds runs strictly after a time, to the millisecond", () => {
    expect(runs("0 0 * * *", "UTC", "2026-11-01T00:00:00.000Z", 1)).toEqual(["2026-11-02T00:00:00Z"]);
    expect(runs("0 0 * * *", "UTC", "2026-10-31T23:59:59.999Z", 1)).toEqual(["2026-11-01T00:00:00Z"]);
  });

  it.each(
    [
      [
        "",
        "a b c d e",
        "0 0 L * *",
        "0 0 1W * *",
        "? * * * *",
        "H * * * *",
        "0 0 * * FOO",
        "-1 * * * *",
        "1.5 * * * *",
      ],
      ["* * * * *; rm -rf /", "0 0 31 4,6,9,11 *", "* * 32 * *", "9".repeat(100_000)],
    ].flat(),
  )("refuses %j", (expression) => {
    const zone = openTimeZone("UTC");
    expect(zone === null ? undefined : parseCron(expression, zone)).toBeNull();
  });
});

describe("a time of day that clocks skip", () => {
  it.each([
    // 02:00 becomes 03:00 on 29 March at 01:00 UTC.
    ["0 3 * * *", BERLIN, "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"]],
    [
      "30 1,2,3 * * *",
      BERLIN,
      "2026-03-28T23:59:00Z",
      ["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"],
    ],
    // 02:00 becomes 03:00 on 8 March at 07:00 UTC.
    ["15 2 * * *", NEW_YORK, "2026-03-07T12:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T06:15:00Z"]],
    // 02:00 becomes 02:30 on 4 October at 15:30 UTC of the day before.
    ["15 2 * * *", LORD_HOWE, "2026-10-03T10:00:00Z", ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]],
    ["30 2 * * *", LORD_HOWE, "2026-10-03T10:00:00Z", ["2026-10-03T15:30:00Z", "2026-10-04T15:30:00Z"]],
  ])("%s in %s runs once, when they are put forward", (expression, zone, after, expected) => {
    expect(runs(expression, zone, after, expected.length)).toEqual(expected);
  });

  it("is left out of a schedule for every hour, or with minutes that begin with an asterisk", () => {
    expect(runs("*/15 2 * * *", BERLIN, "2026-03-28T12:00:00Z", 1)).toEqual(["2026-03-30T00:00:00Z"]);
    expect(runs("30 * * * *", BERLIN, "2026-03-29T00:00:00Z", 3)).toEqual([
      "2026-03-29T00:30:00Z",
      "2026-03-29T01:30:00Z",
      "2026-03-29T02:30:00Z",
    ]);
    expect(runs("15 * * * *", LORD_HOWE, "2026-10-03T14:00:00Z", 3)).toEqual([
      "2026-10-03T14:45:00Z",
      "2026-10-03T16:15:00Z",
      "2026-10-03T17:15:00Z",
    ]);
  });
});

describe("a time of day that clocks show twice", () => {
  it.each(["*/20 2 * * *", "*/20 2 * * 0"])("%s runs in both, because its minutes begin with an asterisk", (line) => {
    expect(runs(line, BERLIN, "2026-10-24T22:30:00Z", 6)).toEqual([
      "2026-10-25T00:00:00Z",
      "2026-10-25T00:20:00Z",
      "2026-10-25T00:40:00Z",
      "2026-10-25T01:00:00Z",
      "2026-10-25T01:20:00Z",
      "2026-10-25T01:40:00Z",
    ]);
  });

  it.each([
    // 03:00 becomes 02:00 on 25 October at 01:00 UTC.
    ["30 2 * * *", BERLIN, "2026-10-25T00:45:00Z", ["2026-10-26T01:30:00Z"]],
    ["30 2 * * *", BERLIN, "2026-10-25T01:10:00Z", ["2026-10-26T01:30:00Z"]],
    // 02:00 becomes 01:00 on 1 November at 06:00 UTC.
    ["15 1 * * *", NEW_YORK, "2026-10-31T12:00:00Z", ["2026-11-01T05:15:00Z", "2026-11-02T06:15:00Z"]],
  ])("%s in %s runs at the first", (expression, zone, after, expected) => {
    expect(runs(expression, zone, after, expected.length)).toEqual(expected);
  });

  it("runs twice in a schedule for every hour", () => {
    expect(runs("30 * * * *", BERLIN, "2026-10-24T23:45:00Z", 3)).toEqual([
      "2026-10-25T00:30:00Z",
      "2026-10-25T01:30:00Z",
      "2026-10-25T02:30:00Z",
    ]);
    expect(runs("0 */2 * * *", BERLIN, "2026-10-24T22:30:00Z", 3)).toEqual([
      "2026-10-25T00:00:00Z",
      "2026-10-25T01:00:00Z",
      "2026-10-25T03:00:00Z",
    ]);
    expect(runs("45 * * * *", LORD_HOWE, "2026-04-04T13:50:00Z", 3)).toEqual([
      "2026-04-04T14:45:00Z",
      "2026-04-04T15:15:00Z",
      "2026-04-04T16:15:00Z",
    ]);
  });
});

describe("a schedule for every hour of distant days", () => {
  it("finds the first run of the day, whatever the clocks did in between", () => {
    expect(runs("5 * 1 7 *", BERLIN, "2026-01-10T00:00:00Z", 2)).toEqual([
      "2026-06-30T22:05:00Z",
      "2026-06-30T23:05:00Z",
    ]);
    expect(runs("5 * 29 3 *", BERLIN, "2026-01-10T00:00:00Z", 4)).toEqual([
      "2026-03-28T23:05:00Z",
      "2026-03-29T00:05:00Z",
      "2026-03-29T01:05:00Z",
      "2026-03-29T02:05:00Z",
    ]);
  });
});

describe("a day that clocks skip", () => {
  it("runs its times of day once, when the clocks are put forward", () => {
    // 30 December 2011 does not exist in Samoa: at 10:00 UTC the clocks went from 00:00 on that day to the next one.
    expect(runs("0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", 3)).toEqual([
      "2011-12-30T10:00:00Z",
      "2011-12-30T22:00:00Z",
      "2011-12-31T22:00:00Z",
    ]);
  });
});
