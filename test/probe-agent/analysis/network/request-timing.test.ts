import { describe, expect, it } from "vitest";
import { hopTimingMs, timingReport } from "#probe-agent/analysis/network/request-timing.ts";

/** A small deterministic generator (mulberry32), so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function hopOf(durations: readonly number[]) {
  const [dns = 0, connect = 0, tls = 0, ttfb = 0, transfer = 0] = durations;
  return { dns, connect, tls, ttfb, transfer, total: dns + connect + tls + ttfb + transfer };
}

describe("timingReport", () => {
  it("has phases that add up to elapsed_ms exactly, are never negative, and are accurate to 1 ms", () => {
    const random = generator(7);
    for (let run = 0; run < 20_000; run += 1) {
      const scale = 10 ** Math.floor(random() * 7);
      const hop = hopOf(Array.from({ length: 5 }, () => (random() < 0.2 ? 0 : Math.floor(random() * scale))));
      const startedAtUs = Math.floor(random() * scale * 3);
      const { timing, timing_us, elapsed_ms } = timingReport({ hops: [1, 2], final: { timing: hop, startedAtUs } });
      const { redirect_count, ...phases } = timing;
      expect(redirect_count).toBe(1);
      const values = Object.values(phases);
      expect(values.reduce((sum, value) => sum + value, 0)).toBe(elapsed_ms);
      expect(values.every((value) => Number.isInteger(value) && value >= 0)).toBe(true);
      expect(Math.abs(phases.ttfb_ms - hop.ttfb / 1000)).toBeLessThanOrEqual(1);
      const { elapsed_us, ...micro } = timing_us;
      expect(Object.values(micro).reduce((sum, value) => sum + value, 0)).toBe(elapsed_us);
      expect(elapsed_ms).toBe(Math.round(elapsed_us / 1000));
    }
  });

  it("rounds cumulative times instead of each phase", () => {
    const final = { timing: hopOf([500, 500, 500, 500, 500]), startedAtUs: 0 };
    const { timing, elapsed_ms } = timingReport({ hops: [1], final });
    expect(elapsed_ms).toBe(3);
    expect(timing).toEqual({
      dns_ms: 1,
      connect_ms: 0,
      tls_ms: 1,
      ttfb_ms: 0,
      transfer_ms: 1,
      redirect_ms: 0,
      redirect_count: 0,
    });
  });
});

describe("hopTimingMs", () => {
  it("has phases that add up to the hop's total", () => {
    const { total_ms, ...phases } = hopTimingMs(hopOf([1499, 1499, 1499, 1499, 1499]));
    expect(Object.values(phases).reduce((sum, value) => sum + value, 0)).toBe(total_ms);
    expect(total_ms).toBe(7);
  });
});
