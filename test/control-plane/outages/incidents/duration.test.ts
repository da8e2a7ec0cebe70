import { describe, expect, it } from "vitest";
import { durationSeconds } from "#control-plane/outages/incidents/duration.ts";
import { seeded } from "#test/support/seeded.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const HOUR_MS = 3_600_000;

describe("the duration of an incident", () => {
  it("runs until its end, or until now while it is open", () => {
    const startedAt = new Date(START);
    const now = new Date(START + 90_500);
    expect(durationSeconds({ startedAt, resolvedAt: null }, now)).toBe(90);
    expect(durationSeconds({ startedAt, resolvedAt: new Date(START + 61_999) }, now)).toBe(61);
  });

  it("is a whole number and never negative, even if the clock steps by an hour", () => {
    const next = seeded(7);
    for (let round = 0; round < 2_000; round += 1) {
      const step = ((next() % 3) - 1) * HOUR_MS;
      const startedAt = new Date(START + next() * 1_000 + next());
      const end = new Date(startedAt.getTime() + next() * 500 + next() + step);
      for (const incident of [
        { startedAt, resolvedAt: end },
        { startedAt, resolvedAt: null },
      ]) {
        const seconds = durationSeconds(incident, end);
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBe(Math.max(0, Math.floor((end.getTime() - startedAt.getTime()) / 1_000)));
      }
    }
  });
});
