import { describe, expect, it } from "vitest";
import { parseCron } from "#control-plane/watching/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { runCron, whyNoCron } from "#test/lab/cron-daemon.ts";
import { CRON_ROWS } from "#test/support/heartbeats/cron-rows.ts";
import { until } from "#test/support/until.ts";

const MINUTE_MS = 60_000;
/** The daemon starts that long before the first minute of interest, milliseconds of its clock. */
const LEAD_MS = 10_000;
/** The daemon multiplies minutes into a 32-bit number of seconds: it stops on 19 January 2038. */
const LAST = Date.parse("2038-01-01T00:00Z");
/** It runs a line once for each time of day that is skipped, all in one moment, which is one run for us. */
const TOGETHER: Readonly<Record<string, number>> = { "15,45 2 * * 0": 2 };
const LINES = [...new Set(CRON_ROWS.map(([line]) => line))];

const why = whyNoCron();
if (why !== null) console.warn(why);

// Each daemon has all lines of the table, so that each moment says of every line whether it runs then.
describe.skipIf(why !== null).concurrent("Debian's cron runs the lines that we expect", () => {
  const moments = CRON_ROWS.flatMap(([line, zone, , runs]) => runs.map((at) => [line, zone, at] as const)).filter(
    ([, zone, at]) => Date.parse(at) < LAST && !isRepeated(zone, Date.parse(at)),
  );
  it.each(moments)("when %s runs in %s at %s", async (line, zone, at) => {
    const first = Date.parse(at);
    const runs = await compare({ zone, first, minutes: 1, speed: 30 });
    expect(runs.get(line)).toBeGreaterThan(0);
  });

  // For each: the zone, the first minute, and how many follow.
  it.each([
    ["Europe/Berlin", "2027-03-28T00:40Z", 55],
    ["Europe/Berlin", "2026-10-25T00:25Z", 70],
    ["America/New_York", "2027-03-14T06:40Z", 55],
    ["America/New_York", "2026-11-01T05:25Z", 70],
    ["Australia/Lord_Howe", "2026-10-03T15:05Z", 50],
    ["Australia/Lord_Howe", "2027-04-03T14:35Z", 50],
  ] as const)("while the clocks change in %s at %s, for %i minutes", async (zone, at, minutes) => {
    const runs = await compare({ zone, first: Date.parse(at), minutes, speed: 60 });
    expect(runs.size).toBe(LINES.length);
  });
});

/** Runs the daemon for some minutes. Returns how often each line has run. */
async function compare(scene: {
  readonly zone: string;
  readonly first: number;
  readonly minutes: number;
  readonly speed: number;
}): Promise<ReadonlyMap<string, number>> {
  const { zone, first, minutes, speed } = scene;
  const startsAt = first - LEAD_MS;
  const least = LINES.map((line) => countRuns(line, zone, startsAt, first + (minutes - 1) * MINUTE_MS));
  const cron = runCron({ lines: LINES, zone, startsAt, speed });
  try {
    const isDone = () => cron.ticks() > minutes && cron.runs().every((count, index) => count >= (least[index] ?? 0));
    await until(isDone, `the runs of ${minutes} minutes`);
    const runs = cron.runs();
    // A tick is written beside the jobs of its minute, before or after them.
    const last = first + cron.ticks() * MINUTE_MS;
    const most = LINES.map((line) => countRuns(line, zone, startsAt, last) * (TOGETHER[line] ?? 1));
    const more = LINES.filter((_, index) => (runs[index] ?? 0) > (most[index] ?? 0));
    expect(more).toEqual([]);
    return new Map(LINES.map((line, index) => [line, runs[index] ?? 0]));
  } finally {
    await cron.end();
  }
}

/** Tells whether the clocks of a zone show this time again: a daemon that starts then does not know it. */
function isRepeated(zoneName: string, at: number): boolean {
  const zone = openTimeZone(zoneName);
  return zone !== null && zone.offsetAt(at) < zone.offsetAt(at - 60 * MINUTE_MS);
}

/** Counts the runs of a line after an instant and up to another. */
function countRuns(line: string, zoneName: string, after: number, to: number): number {
  const zone = openTimeZone(zoneName);
  const schedule = zone === null ? null : parseCron(line, zone);
  if (schedule === null) throw new Error(`not a schedule: ${line}`);
  let count = 0;
  for (let at = schedule.nextRun(after); at <= to; at = schedule.nextRun(at)) count += 1;
  return count;
}
