import { describe, expect, it } from "vitest";
import { nextPlanned, phaseMs } from "#control-plane/watching/checking/schedule/planned-time.ts";
import { seeded } from "#test/support/seeded.ts";

const MINUTE = { intervalSeconds: 60, phaseMs: 7_000 };
const at = (minute: number, second: number): number => minute * 60_000 + second * 1_000;

describe("the next planned time", () => {
  it.each([
    ["follows the planned time by one interval, not the time of the check", at(10, 7), at(10, 9), at(11, 7), 0],
    ["is not later after a late check", at(10, 7), at(11, 6), at(11, 7), 0],
    ["is after now, with the planned times in between counted as missed", at(10, 7), at(14, 30), at(15, 7), 4],
    ["is never the present moment again", at(10, 7), at(11, 7), at(12, 7), 1],
    ["reaches the phase after a first check at any time", at(10, 20), at(10, 21), at(11, 7), 0],
    ["does not go back when the clock does", at(10, 7), at(9, 0), at(11, 7), 0],
  ])("%s", (_title, planned, now, next, missed) => {
    expect(nextPlanned(planned, now, MINUTE)).toEqual({ at: next, missed });
  });

  it("accounts for every planned time exactly once, whatever the delays and clock steps", () => {
    const next = seeded(20_261_123);
    for (let history = 0; history < 500; history += 1) {
      const entry = { intervalSeconds: 30 + next() * 10, phaseMs: next() % 30_000 };
      const intervalMs = entry.intervalSeconds * 1_000;
      const first = nextPlanned(0, next() * 1_000_000, entry).at;
      let planned = first;
      let now = first;
      let counted = 0;
      for (let check = 0; check < 50; check += 1) {
        now = Math.max(0, now + (next() - 40) * intervalMs * 0.05);
        const step = nextPlanned(planned, now, entry);
        expect(step.at).toBeGreaterThan(Math.max(planned, now));
        expect((step.at - entry.phaseMs) % intervalMs).toBe(0);
        counted += 1 + step.missed;
        planned = step.at;
      }
      expect(counted).toBe((planned - first) / intervalMs);
    }
  });
});

describe("the phase", () => {
  it("spreads monitors and their locations evenly over the interval", () => {
    // Parts of 250 ms: what is due at the same moment is claimed together, and everything else waits meanwhile.
    const perPart = Array.from({ length: 240 }, () => 0);
    for (let monitor = 1; monitor <= 20_000; monitor += 1) {
      for (let location = 0; location < 3; location += 1) {
        const part = Math.floor(phaseMs(monitor, location, 3, 60) / 250);
        perPart[part] = (perPart[part] ?? 0) + 1;
      }
    }
    expect(Math.max(...perPart)).toBeLessThan(275);
    expect(Math.min(...perPart)).toBeGreaterThan(225);
  });

  it("puts the locations of one monitor a share of the interval apart", () => {
    const phases = [0, 1, 2].map((location) => phaseMs(17, location, 3, 60)).toSorted((a, b) => a - b);
    const [first = 0, second = 0, third = 0] = phases;
    expect([second - first, third - second]).toEqual([20_000, 20_000]);
  });
});
