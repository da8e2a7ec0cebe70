import { describe, expect, it } from "vitest";
import { mergeSpans, type Span } from "#control-plane/outages/history/period.ts";
import {
  addTimes,
  measureTime,
  NO_TIME,
  uptimePercent,
  type Status,
  type StatusChange,
} from "#control-plane/outages/history/timeline.ts";
import { createDice, type Dice } from "#test/control-plane/outages/history/random.ts";

const at = (time: number, status: Status): StatusChange => ({ at: time, status });

describe("the time in each status", () => {
  it("is unknown before the first change", () => {
    expect(measureTime({ from: 0, to: 10 }, [at(4, "up")], [])).toEqual({ ...NO_TIME, unknownMs: 4, upMs: 6 });
  });

  it("begins with the newest change before the window", () => {
    const changes = [at(1, "up"), at(5, "down"), at(20, "up")];
    expect(measureTime({ from: 10, to: 30 }, changes, [])).toEqual({ ...NO_TIME, downMs: 10, upMs: 10 });
  });

  it("ignores what comes after the window", () => {
    expect(measureTime({ from: 0, to: 10 }, [at(0, "up"), at(10, "down"), at(12, "up")], [])).toEqual({
      ...NO_TIME,
      upMs: 10,
    });
  });

  it("leaves maintenance out, overlapping windows once", () => {
    const maintenance = [
      { from: 6, to: 9 },
      { from: 2, to: 4 },
      { from: 3, to: 7 },
    ];
    expect(measureTime({ from: 0, to: 10 }, [at(0, "up"), at(5, "down")], maintenance)).toEqual({
      upMs: 2,
      downMs: 1,
      unknownMs: 0,
      maintenanceMs: 7,
    });
  });

  it("is nothing in an empty window", () => {
    expect(measureTime({ from: 5, to: 5 }, [at(0, "up")], [{ from: 0, to: 9 }])).toEqual(NO_TIME);
  });

  it("counts the last of two changes in one millisecond", () => {
    expect(measureTime({ from: 0, to: 4 }, [at(2, "down"), at(2, "up")], [])).toEqual({
      ...NO_TIME,
      unknownMs: 2,
      upMs: 2,
    });
  });
});

describe("the uptime", () => {
  it.each([
    ["is null while no time is known", 0, 0, null],
    ["is 100 without an outage", 5, 0, 100],
    ["is 0 without a good moment", 0, 5, 0],
    ["has three decimals", 2, 1, 66.666],
    ["is never rounded up to 100", 90 * 86_400_000 - 1, 1, 99.999],
  ])("%s", (_, upMs, downMs, percent) => {
    expect(uptimePercent({ upMs, downMs })).toBe(percent);
  });
});

/** A random life of 300 ms. */
function randomHistory(dice: Dice): { changes: StatusChange[]; maintenance: Span[] } {
  const changes = Array.from({ length: dice.below(12) }, () =>
    at(dice.below(300), dice.pick<Status>(["up", "down", "unknown"])),
  ).toSorted((a, b) => a.at - b.at);
  const maintenance = Array.from({ length: dice.below(5) }, () => {
    const from = dice.below(300);
    return { from, to: from + dice.below(60) };
  });
  return { changes, maintenance };
}

/** Finds the status of each millisecond on its own. */
function naiveTime(window: Span, changes: readonly StatusChange[], maintenance: readonly Span[]) {
  const count = { up: 0, down: 0, unknown: 0, maintenance: 0 };
  for (let ms = window.from; ms < window.to; ms += 1) {
    if (maintenance.some(({ from, to }) => from <= ms && ms < to)) count.maintenance += 1;
    else count[changes.findLast((change) => change.at <= ms)?.status ?? "unknown"] += 1;
  }
  return { upMs: count.up, downMs: count.down, unknownMs: count.unknown, maintenanceMs: count.maintenance };
}

describe("random histories", () => {
  it("have the times that a count of every millisecond finds", () => {
    for (let seed = 0; seed < 3_000; seed += 1) {
      const dice = createDice(seed);
      const { changes, maintenance } = randomHistory(dice);
      const from = dice.below(300);
      const window = { from, to: from + dice.below(200) };
      const expected = naiveTime(window, changes, maintenance);
      expect(measureTime(window, changes, maintenance), `seed ${seed}`).toEqual(expected);
    }
  });

  it("have the same time in one window and in its parts", () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const dice = createDice(seed);
      const { changes, maintenance } = randomHistory(dice);
      const cut = dice.below(301);
      const parts = [
        { from: 0, to: cut },
        { from: cut, to: 300 },
      ].map((part) => measureTime(part, changes, maintenance));
      expect(parts.reduce(addTimes), `seed ${seed}`).toEqual(measureTime({ from: 0, to: 300 }, changes, maintenance));
    }
  });

  it("have merged spans that cover the same milliseconds, apart and in order", () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      const { maintenance } = randomHistory(createDice(seed));
      const within = { from: 20, to: 280 };
      const merged = mergeSpans(maintenance, within);
      for (const [index, { from }] of merged.entries()) expect(from).toBeGreaterThan(merged[index - 1]?.to ?? -1);
      const differing = Array.from({ length: 300 }, (_, ms) => ms).filter((ms) => {
        const covers = ({ from, to }: Span) => from <= ms && ms < to;
        const expected = ms >= within.from && ms < within.to && maintenance.some(covers);
        return merged.some(covers) !== expected;
      });
      expect(differing, `seed ${seed}`).toEqual([]);
    }
  });
});
