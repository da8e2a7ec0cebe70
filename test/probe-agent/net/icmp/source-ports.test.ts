import { describe, expect, it } from "vitest";
import { createDemux } from "#probe-agent/net/icmp/demux.ts";
import { findFreePorts } from "#probe-agent/net/icmp/probers/tcp-segment.ts";

const FIRST = 20_000;
const LAST = 31_999;

describe("source ports of a TCP trace", () => {
  it("are other ports than those of a trace that is under way, until it ends", () => {
    const demux = createDemux(() => 1);
    const isTaken = (port: number) => demux.hasListener("tcp", port);
    const listeners = [0, 1].map((flow) => demux.listenPort("tcp", FIRST + 100 + flow, { onError: () => {} }));
    expect(findFreePorts(isTaken, 100, 1)).toBe(FIRST + 102);
    expect(findFreePorts(isTaken, 99, 2)).toBe(FIRST + 102);
    expect(findFreePorts(isTaken, 98, 2)).toBe(FIRST + 98);
    for (const { forget } of listeners) forget();
    expect(findFreePorts(isTaken, 100, 1)).toBe(FIRST + 100);
  });

  it("are within the range for every random number, and search on at its begin", () => {
    for (const [random, count] of [
      [0, 1],
      [65_535, 1],
      [11_999, 1],
      [11_992, 8],
      [65_535, 64],
    ] as const) {
      const first = findFreePorts(() => false, random, count) ?? 0;
      expect(first).toBeGreaterThanOrEqual(FIRST);
      expect(first + count - 1).toBeLessThanOrEqual(LAST);
    }
    expect(findFreePorts((port) => port !== FIRST, 5, 1)).toBe(FIRST);
    expect(findFreePorts((port) => port !== LAST, 5, 1)).toBe(LAST);
  });

  it("are none if too few in a row are free", () => {
    expect(findFreePorts(() => true, 5, 1)).toBeNull();
    expect(findFreePorts((port) => port % 2 === 0, 5, 2)).toBeNull();
  });
});
