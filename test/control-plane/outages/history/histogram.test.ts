import { describe, expect, it } from "vitest";
import { encodeHistogram, mergeHistograms, percentilesOf } from "#control-plane/outages/history/histogram.ts";
import { bucketOf, histogramOf } from "#test/control-plane/outages/history/buckets.ts";
import { createDice } from "#test/control-plane/outages/history/random.ts";

/** Percentiles of the values themselves, by nearest rank. */
function exactPercentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number) => sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null;
  return { p50: at(50), p95: at(95), p99: at(99) };
}

describe("a histogram", () => {
  it("represents every number of milliseconds up to a minute within 2.5 %", () => {
    const empty = mergeHistograms([]);
    let worst = 0;
    for (let ms = 0; ms <= 60_000; ms += 1) {
      empty[bucketOf(ms)] = 1;
      const { p50 } = percentilesOf(empty);
      empty[bucketOf(ms)] = 0;
      worst = Math.max(worst, Math.abs((p50 ?? Infinity) - ms) / Math.max(ms, 1));
    }
    expect(worst).toBeLessThanOrEqual(0.025);
  });

  it("represents numbers below 64 exactly", () => {
    for (let ms = 0; ms < 64; ms += 1) expect(percentilesOf(histogramOf([ms])).p50).toBe(ms);
  });

  it("counts more than a minute in the last bucket, and less than nothing in the first", () => {
    expect(percentilesOf(histogramOf([10_000_000])).p50).toBe(percentilesOf(histogramOf([65_535])).p50);
    expect(percentilesOf(histogramOf([-5])).p50).toBe(0);
  });

  it("has no percentiles without values", () => {
    expect(percentilesOf(mergeHistograms([null, null]))).toEqual({ p50: null, p95: null, p99: null });
    expect(encodeHistogram(mergeHistograms([]))).toBeNull();
  });

  it("takes percentiles by nearest rank", () => {
    const twenty = Array.from({ length: 20 }, (_, index) => index + 1);
    expect(percentilesOf(histogramOf(twenty))).toEqual({ p50: 10, p95: 19, p99: 20 });
    expect(percentilesOf(histogramOf([7]))).toEqual({ p50: 7, p95: 7, p99: 7 });
  });

  it("keeps its counts when it is encoded, also those above 63 and above 16 bits", () => {
    const histogram = mergeHistograms([]);
    for (const [bucket, count] of [
      [0, 1],
      [1, 63],
      [2, 64],
      [3, 65],
      [200, 70_000],
      [383, 4_000_000_000],
    ] as const) {
      histogram[bucket] = count;
    }
    expect(mergeHistograms([encodeHistogram(histogram)])).toEqual(histogram);
  });

  it("needs two bytes for a bucket with few values", () => {
    expect(encodeHistogram(histogramOf([80, 80, 81, 500]))).toHaveLength(2 * 2);
  });

  it("ignores the rest of a cut encoding", () => {
    expect(mergeHistograms([Uint8Array.from([0, 0, 0])])).toEqual(histogramOf([0]));
    expect(mergeHistograms([Uint8Array.from([0, 63, 0, 0])])).toEqual(mergeHistograms([]));
    expect(mergeHistograms([Uint8Array.from([255, 255, 255, 255, 255, 255])])).toEqual(mergeHistograms([]));
  });
});

it("percentiles of merged histograms are those of all values together, within 2.5 %", () => {
  for (let seed = 0; seed < 2_000; seed += 1) {
    const dice = createDice(seed);
    const largest = dice.pick([10, 100, 1_000, 60_000]);
    const parts = Array.from({ length: 1 + dice.below(5) }, () =>
      Array.from({ length: dice.below(200) }, () => dice.below(largest)),
    );
    const all = parts.flat();
    const merged = percentilesOf(mergeHistograms(parts.map((part) => encodeHistogram(histogramOf(part)))));
    for (const [name, exact] of Object.entries(exactPercentiles(all))) {
      const found = merged[name as "p50"];
      if (exact === null) expect(found).toBeNull();
      else expect(Math.abs((found ?? Infinity) - exact), `seed ${seed} ${name}`).toBeLessThanOrEqual(exact * 0.025);
    }
  }
});
