import { describe, expect, it } from "vitest";
import { logNormalScore } from "#probe-agent/analysis/page/log-normal.ts";

const FCP = { p10: 1800, median: 3000 };

describe("a scoring curve as in Lighthouse", () => {
  it("gives 0.9 at its tenth percentile and 0.5 at its median", () => {
    expect(logNormalScore(FCP, 1800)).toBe(0.9);
    expect(logNormalScore(FCP, 3000)).toBe(0.5);
  });

  it("gives the same scores as Lighthouse's calculator", () => {
    // Lighthouse 10 on mobile: FCP 1.2 s, 2.2 s, 4 s; LCP 3 s; TBT 100 ms and 1000 ms; CLS 0.02.
    expect([1200, 2200, 4000].map((ms) => logNormalScore(FCP, ms))).toEqual([0.99, 0.78, 0.24]);
    expect(logNormalScore({ p10: 2500, median: 4000 }, 3000)).toBe(0.78);
    expect([100, 1000].map((ms) => logNormalScore({ p10: 200, median: 600 }, ms))).toEqual([0.98, 0.28]);
    expect(logNormalScore({ p10: 0.1, median: 0.25 }, 0.02)).toBe(1);
  });

  it("falls, stays between 0 and 1, and scores 0 as the best value", () => {
    const scores = Array.from({ length: 400 }, (_, n) => logNormalScore(FCP, n * 50));
    expect(scores.every((score, n) => score >= 0 && score <= 1 && score <= (scores[n - 1] ?? 1))).toBe(true);
    expect([logNormalScore(FCP, 0), logNormalScore(FCP, 1e9)]).toEqual([1, 0]);
  });
});
