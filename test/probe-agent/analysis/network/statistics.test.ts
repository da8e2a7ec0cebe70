import { describe, expect, it } from "vitest";
import { hopStatistics, rttStatistics } from "#probe-agent/analysis/network/statistics.ts";

describe("round-trip statistics", () => {
  it("are those of iputils plus quantiles and jitter", () => {
    expect(rttStatistics([10, 20, 30, 40])).toEqual({
      min_ms: 10,
      avg_ms: 25,
      max_ms: 40,
      mdev_ms: 11.18,
      p50_ms: 25,
      p95_ms: 38.5,
      jitter_ms: 10,
      loss_percent: 0,
    });
  });

  it("take the received ones only, in their order", () => {
    const statistics = rttStatistics([5, null, 1, 9, null]);
    expect(statistics).toMatchObject({ min_ms: 1, avg_ms: 5, max_ms: 9, p50_ms: 5, loss_percent: 40 });
    expect(statistics.jitter_ms).toBe((4 + 8) / 2);
  });

  it("have no jitter and no deviation of a single one", () => {
    expect(rttStatistics([null, 7.5])).toMatchObject({
      avg_ms: 7.5,
      mdev_ms: 0,
      p50_ms: 7.5,
      p95_ms: 7.5,
      jitter_ms: null,
      loss_percent: 50,
    });
  });

  it.each([[[null, null, null]], [[]]])("are all null when nothing came back: %j", (samples) => {
    expect(rttStatistics(samples)).toEqual({
      min_ms: null,
      avg_ms: null,
      max_ms: null,
      mdev_ms: null,
      p50_ms: null,
      p95_ms: null,
      jitter_ms: null,
      loss_percent: 100,
    });
  });

  it("are rounded to a thousandth", () => {
    expect(rttStatistics([0.1234567, 0.1234567, null])).toMatchObject({ avg_ms: 0.123, loss_percent: 33.333 });
  });
});

describe("the figures of a hop", () => {
  it("are those of mtr", () => {
    expect(hopStatistics(5, [10, 20, 30, 40])).toEqual({
      sent: 5,
      received: 4,
      best_ms: 10,
      avg_ms: 25,
      worst_ms: 40,
      stdev_ms: 11.18,
      jitter_ms: 10,
    });
  });

  it("are null where it never answered", () => {
    expect(hopStatistics(3, [])).toMatchObject({ sent: 3, received: 0, best_ms: null, stdev_ms: null });
  });
});
