import { describe, expect, it } from "vitest";
import { findCronProblem, parseCron } from "#control-plane/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/time-zone.ts";
import { triedRuns } from "#test/support/heartbeats/cron-oracle.ts";
import { seeded } from "#test/support/seeded.ts";

type Row = readonly [line: string, zone: string, after: string, runs: readonly string[]];

/**
 * Friday 27 November 2026 is the day of most rows. The cron 3.0pl1-162 of Debian was run on that day and at both changes of
 * the clocks in Berlin, under a moved clock, with lines of the same forms: it followed the same rules.
 */
const ROWS: readonly Row[] = [
  // Both fields of days must hold where one begins with an asterisk, else either of them.
  ["0 4 */2 * 1", "UTC", "2026-11-27T10:00:00Z", ["2026-12-07T04:00Z", "2026-12-21T04:00Z"]],
  ["* * */2 * 4", "UTC", "2026-11-26T11:59:00Z", ["2026-12-03T00:00Z", "2026-12-03T00:01Z"]],
  ["* * 26 * */9", "UTC", "2026-11-26T11:59:00Z", ["2027-09-26T00:00Z", "2027-09-26T00:01Z"]],
  ["* * 1-31/2 * 4", "UTC", "2026-11-26T11:59:00Z", ["2026-11-26T12:00Z", "2026-11-26T12:01Z"]],
  ["0 14 */14 * 3", "UTC", "2026-11-27T10:00:00Z", ["2027-09-01T14:00Z", "2027-09-15T14:00Z"]],
  ["0 4 1 * */2", "UTC", "2026-11-27T10:00:00Z", ["2026-12-01T04:00Z", "2027-04-01T04:00Z"]],
  ["0 4 * * 1", "UTC", "2026-11-27T10:00:00Z", ["2026-11-30T04:00Z", "2026-12-07T04:00Z"]],
  ["0 4 2 * *", "UTC", "2026-11-27T10:00:00Z", ["2026-12-02T04:00Z", "2027-01-02T04:00Z"]],
  ["0 4 2 * 1", "UTC", "2026-11-27T10:00:00Z", ["2026-11-30T04:00Z", "2026-12-02T04:00Z"]],
  ["0 4 1-31 * 1", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T04:00Z", "2026-11-29T04:00Z"]],
  ["0 4 13 * 0-7", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T04:00Z", "2026-11-29T04:00Z"]],
  ["0 4 13 * 0-6", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T04:00Z", "2026-11-29T04:00Z"]],
  ["0 4 *,13 * 5", "UTC", "2026-11-27T10:00:00Z", ["2026-12-04T04:00Z", "2026-12-11T04:00Z"]],
  ["0 4 13,* * 5", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T04:00Z", "2026-11-29T04:00Z"]],
  ["0 4 13 * *,5", "UTC", "2026-11-27T10:00:00Z", ["2026-12-13T04:00Z", "2027-01-13T04:00Z"]],
  ["0 4 */31 * *", "UTC", "2026-11-27T10:00:00Z", ["2026-12-01T04:00Z", "2027-01-01T04:00Z"]],
  ["0 4 */40 * 2", "UTC", "2026-11-27T10:00:00Z", ["2026-12-01T04:00Z", "2027-06-01T04:00Z"]],
  ["30 4 1,15 * 5", "UTC", "2026-11-27T10:00:00Z", ["2026-12-01T04:30Z", "2026-12-04T04:30Z"]],
  // Days of the week, by number and by name.
  ["0 0 * * 0", "UTC", "2026-11-27T10:00:00Z", ["2026-11-29T00:00Z", "2026-12-06T00:00Z"]],
  ["0 0 * * 7", "UTC", "2026-11-27T10:00:00Z", ["2026-11-29T00:00Z", "2026-12-06T00:00Z"]],
  ["0 0 * * 5-7", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T00:00Z", "2026-11-29T00:00Z"]],
  ["0 0 * * sun-tue", "UTC", "2026-11-27T10:00:00Z", ["2026-11-29T00:00Z", "2026-11-30T00:00Z"]],
  ["0 0 * * Mon,WED-fri", "UTC", "2026-11-27T10:00:00Z", ["2026-11-30T00:00Z", "2026-12-02T00:00Z"]],
  ["0 0 * * 7-7", "UTC", "2026-11-27T10:00:00Z", ["2026-11-29T00:00Z", "2026-12-06T00:00Z"]],
  ["0 0 * * 1-5/2", "UTC", "2026-11-27T10:00:00Z", ["2026-11-30T00:00Z", "2026-12-02T00:00Z"]],
  ["0 0 * * fri-7", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T00:00Z", "2026-11-29T00:00Z"]],
  // Months, and days that few months have.
  ["0 0 1 jan *", "UTC", "2026-11-27T10:00:00Z", ["2027-01-01T00:00Z", "2028-01-01T00:00Z"]],
  ["0 0 1 JAN-mar *", "UTC", "2026-11-27T10:00:00Z", ["2027-01-01T00:00Z", "2027-02-01T00:00Z"]],
  ["0 0 1 feb-12/5 *", "UTC", "2026-11-27T10:00:00Z", ["2026-12-01T00:00Z", "2027-02-01T00:00Z"]],
  ["0 0 1 */6 *", "UTC", "2026-11-27T10:00:00Z", ["2027-01-01T00:00Z", "2027-07-01T00:00Z"]],
  ["0 0 31 * *", "UTC", "2026-11-27T10:00:00Z", ["2026-12-31T00:00Z", "2027-01-31T00:00Z"]],
  ["0 0 29 2 *", "UTC", "2026-11-27T10:00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
  ["0 0 29 2 */7", "UTC", "2059-01-01T00:00:00Z", ["2060-02-29T00:00Z"]],
  ["0 0 30,31 4 *", "UTC", "2026-11-27T10:00:00Z", ["2027-04-30T00:00Z", "2028-04-30T00:00Z"]],
  // Steps, ranges and lists.
  ["*/7 * * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-27T10:07Z", "2026-11-27T10:14Z"]],
  ["*/100 * * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-27T11:00Z", "2026-11-27T12:00Z"]],
  ["7-59/13 * * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-27T10:07Z", "2026-11-27T10:20Z"]],
  ["10-20 8-9/1 * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T08:10Z", "2026-11-28T08:11Z"]],
  ["59 23 31 12 *", "UTC", "2026-11-27T10:00:00Z", ["2026-12-31T23:59Z", "2027-12-31T23:59Z"]],
  ["0,30 */9 * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-27T18:00Z", "2026-11-27T18:30Z"]],
  ["007 08 * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-28T08:07Z", "2026-11-29T08:07Z"]],
  ["5,5,4 * * * *", "UTC", "2026-11-27T10:00:00Z", ["2026-11-27T10:04Z", "2026-11-27T10:05Z"]],
  // Words, in zones with odd offsets.
  ["@hourly", "Europe/Berlin", "2026-10-24T23:30:00Z", ["2026-10-25T00:00Z", "2026-10-25T01:00Z"]],
  ["@daily", "Asia/Kathmandu", "2026-11-27T10:00:00Z", ["2026-11-27T18:15Z", "2026-11-28T18:15Z"]],
  ["@midnight", "America/Sao_Paulo", "2026-11-27T10:00:00Z", ["2026-11-28T03:00Z", "2026-11-29T03:00Z"]],
  ["@weekly", "Pacific/Kiritimati", "2026-11-27T10:00:00Z", ["2026-11-28T10:00Z", "2026-12-05T10:00Z"]],
  ["@monthly", "Asia/Kolkata", "2026-11-27T10:00:00Z", ["2026-11-30T18:30Z", "2026-12-31T18:30Z"]],
  ["@yearly", "Pacific/Chatham", "2026-11-27T10:00:00Z", ["2026-12-31T10:15Z", "2027-12-31T10:15Z"]],
  ["@annually", "UTC", "2026-11-27T10:00:00Z", ["2027-01-01T00:00Z", "2028-01-01T00:00Z"]],
  // Clocks that are put forward and back.
  ["30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", ["2027-03-28T01:00Z", "2027-03-29T00:30Z"]],
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
  ["15,45 2 * * 0", "Europe/Berlin", "2027-03-27T12:00:00Z", ["2027-03-28T01:00Z", "2027-04-04T00:15Z"]],
  ["30 */2 * * *", "Europe/Berlin", "2027-03-27T23:00:00Z", ["2027-03-27T23:30Z", "2027-03-28T02:30Z"]],
  ["30 0-23 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T00:30Z", "2026-10-25T02:30Z"]],
  ["30 * * * *", "America/New_York", "2026-11-01T05:00:00Z", ["2026-11-01T05:30Z", "2026-11-01T06:30Z"]],
  ["30 1 * * 0", "America/New_York", "2026-10-31T12:00:00Z", ["2026-11-01T05:30Z", "2026-11-08T06:30Z"]],
  ["30 2 14 3 *", "America/New_York", "2027-03-01T00:00:00Z", ["2027-03-14T07:00Z", "2028-03-14T06:30Z"]],
  ["0 2 * * *", "Australia/Lord_Howe", "2027-04-03T12:00:00Z", ["2027-04-03T15:30Z", "2027-04-04T15:30Z"]],
  ["45 1 * * *", "Australia/Lord_Howe", "2027-04-03T12:00:00Z", ["2027-04-03T14:45Z", "2027-04-04T15:15Z"]],
  ["10 2 * 10 0", "Australia/Lord_Howe", "2027-10-01T12:00:00Z", ["2027-10-02T15:30Z", "2027-10-09T15:10Z"]],
  ["0 0 * * *", "America/Santiago", "2026-09-05T00:00:00Z", ["2026-09-05T04:00Z", "2026-09-06T04:00Z"]],
  ["59 23 * * *", "Africa/Casablanca", "2026-02-14T00:00:00Z", ["2026-02-14T22:59Z", "2026-02-15T23:59Z"]],
  ["5 */3 */2 * sun", "Europe/London", "2026-10-24T20:00:00Z", ["2026-10-24T23:05Z", "2026-10-25T03:05Z"]],
];

describe("the next runs of a crontab line", () => {
  it.each(ROWS)("%s in %s after %s", (line, zone, after, runs) => {
    expect(nextRuns(line, zone, after, runs.length)).toEqual(runs);
    expect(triedRuns(line, zone, after, runs.length)).toEqual(runs);
  });

  it("are those that are found by trying every minute, whatever the line", () => {
    const octets = seeded(20_261_127);
    const random = (): number => (octets() * 256 + octets()) / 65_536;
    for (let made = 0; made < 300; made += 1) {
      const line = randomLine(random);
      const zone = pick(random, ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]);
      if (findCronProblem(line) !== null) continue;
      const start = Date.UTC(2026, Math.floor(random() * 24), 1 + Math.floor(random() * 28), Math.floor(random() * 24));
      const after = new Date(start).toISOString();
      const [first = ""] = nextRuns(line, zone, after, 1);
      // Trying takes long for a run that is years away.
      if (Date.parse(first) - start > 60 * 86_400_000) continue;
      expect([line, zone, after, ...nextRuns(line, zone, after, 3)]).toEqual([
        line,
        zone,
        after,
        ...triedRuns(line, zone, after, 3),
      ]);
    }
  });
});

function nextRuns(line: string, zoneName: string, after: string, count: number): readonly string[] {
  const zone = openTimeZone(zoneName);
  const schedule = zone === null ? null : parseCron(line, zone);
  if (schedule === null) throw new Error(`not a schedule: ${line}`);
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    at = schedule.nextRun(at);
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

function randomLine(random: () => number): string {
  const value = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  const item = (low: number, high: number): string => {
    const step = random() < 0.5 ? "" : `/${value(1, 9)}`;
    if (random() < 0.3) return `*${step}`;
    const from = value(low, high);
    return random() < 0.5 ? String(from) : `${from}-${value(from, high)}${step}`;
  };
  const field = (low: number, high: number): string => {
    if (random() < 0.3) return "*";
    return random() < 0.6 ? item(low, high) : `${item(low, high)},${item(low, high)}`;
  };
  return [field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)].join(" ");
}

function pick<T>(random: () => number, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
