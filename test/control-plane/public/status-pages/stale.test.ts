import { describe, expect, it } from "vitest";
import type { MonitorSummary } from "#control-plane/outages/state/summary.ts";
import { findStale } from "#control-plane/public/status-pages/read/build-page.ts";

const NOW = new Date("2026-05-01T12:00:00Z");
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);

/** A monitor that is checked each minute with a timeout of 15 s: overdue after 135 s. */
function monitor(over: Partial<MonitorSummary>): MonitorSummary {
  return {
    id: 1,
    accountId: 1,
    name: "Shop",
    tags: [],
    isActive: true,
    createdAt: ago(86_400),
    changedAt: ago(86_400),
    status: "up",
    isDegraded: false,
    lastCheckedAt: ago(30),
    schedule: { intervalSeconds: 60, timeoutSeconds: 15 },
    ...over,
  };
}

describe("a page is stale", () => {
  it("never without a monitor that is checked by a schedule", () => {
    expect(findStale([], NOW)).toBeNull();
    expect(findStale([monitor({ schedule: null, lastCheckedAt: null })], NOW)).toBeNull();
  });

  it("two intervals and a timeout after its newest observation", () => {
    expect(findStale([monitor({ lastCheckedAt: ago(135) })], NOW)).toBeNull();
    expect(findStale([monitor({ lastCheckedAt: ago(136) })], NOW)).toEqual({ at: ago(136) });
  });

  it("only if all its monitors are, each by its own interval", () => {
    const slow = { schedule: { intervalSeconds: 3_600, timeoutSeconds: 30 }, lastCheckedAt: ago(7_000) };
    expect(findStale([monitor({ lastCheckedAt: ago(600) }), monitor(slow)], NOW)).toBeNull();
    expect(
      findStale([monitor({ lastCheckedAt: ago(600) }), monitor({ ...slow, lastCheckedAt: ago(7_300) })], NOW),
    ).toEqual({ at: ago(600) });
  });

  it("if it has never been observed long after its creation, without a time", () => {
    expect(findStale([monitor({ lastCheckedAt: null, createdAt: ago(100) })], NOW)).toBeNull();
    expect(findStale([monitor({ lastCheckedAt: null, createdAt: ago(200) })], NOW)).toEqual({ at: null });
  });
});
