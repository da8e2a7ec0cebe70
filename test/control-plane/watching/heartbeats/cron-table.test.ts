import { describe, expect, it } from "vitest";
import { findCronProblem, parseCron } from "#control-plane/watching/heartbeats/cron.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { triedRuns } from "#test/support/heartbeats/cron-oracle.ts";
import { CRON_ROWS } from "#test/support/heartbeats/cron-rows.ts";
import { seeded } from "#test/support/seeded.ts";

describe("the next runs of a crontab line", () => {
  it.each(CRON_ROWS)("%s in %s after %s", (line, zone, after, runs) => {
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
