import { describe, expect, it } from "vitest";
import { encodeHistogram } from "#control-plane/outages/history/histogram.ts";
import { DAY_MS, HOUR_MS, nextStart, startOf, startsBetween } from "#control-plane/outages/history/period.ts";
import { joinPoints, stepOf } from "#control-plane/outages/history/points.ts";
import { planWindows } from "#control-plane/outages/history/read/uptimes.ts";
import { histogramOf } from "#test/control-plane/outages/history/buckets.ts";

const NONE = { up: 0, down: 0, unknown: 0, responseMs: null };

const encoded = (...values: number[]) => encodeHistogram(histogramOf(values));

describe("periods", () => {
  it("begin at multiples of their length in UTC, also before 1970", () => {
    expect(startOf(Date.parse("2026-03-29T02:30:00+02:00"), DAY_MS)).toBe(Date.parse("2026-03-29T00:00:00Z"));
    expect(startOf(-1, HOUR_MS)).toBe(-HOUR_MS);
    expect(nextStart(HOUR_MS, HOUR_MS)).toBe(HOUR_MS);
    expect(nextStart(HOUR_MS + 1, HOUR_MS)).toBe(2 * HOUR_MS);
  });

  it("are listed up to the end, without it", () => {
    expect(startsBetween(0, 3, 1)).toEqual([0, 1, 2]);
    expect(startsBetween(0, 3.5, 1)).toEqual([0, 1, 2, 3]);
    expect(startsBetween(3, 0, 1)).toEqual([]);
  });
});

describe("the steps of points", () => {
  it.each([
    ["5 minutes up to 6 hours", 6 * HOUR_MS, 5 * 60_000],
    ["an hour above", 6 * HOUR_MS + 1, HOUR_MS],
    ["an hour up to 7 days", 7 * DAY_MS, HOUR_MS],
    ["a day above", 7 * DAY_MS + 1, DAY_MS],
  ])("are %s", (_, length, step) => {
    expect(stepOf({ from: 1_000, to: 1_000 + length })).toBe(step);
  });
});

describe("points", () => {
  it("join the periods of a step for each location", () => {
    const rows = [
      { ...NONE, at: new Date(HOUR_MS), location: "eu", up: 2, responseMs: encoded(10, 20) },
      { ...NONE, at: new Date(0), location: "eu", up: 1, down: 1, responseMs: encoded(30) },
      { ...NONE, at: new Date(0), location: "us", unknown: 3 },
    ];
    expect(joinPoints(rows, DAY_MS)).toEqual([
      { at: new Date(0), location: "eu", up: 3, down: 1, unknown: 0, p50: 20, p95: 30, p99: 30 },
      { at: new Date(0), location: "us", up: 0, down: 0, unknown: 3, p50: null, p95: null, p99: null },
    ]);
  });

  it("are ordered by time, then by location", () => {
    const rows = ["b", "a"].flatMap((location) =>
      [DAY_MS, 0].map((at) => ({ ...NONE, at: new Date(at), location, up: 1 })),
    );
    const order = joinPoints(rows, DAY_MS).map(({ at, location }) => [at.getTime(), location]);
    expect(order).toEqual([
      [0, "a"],
      [0, "b"],
      [DAY_MS, "a"],
      [DAY_MS, "b"],
    ]);
  });

  it("are missing where there were no checks", () => {
    expect(joinPoints([{ ...NONE, at: new Date(0), location: "eu" }], DAY_MS)).toEqual([]);
  });
});

describe("the windows of uptimes", () => {
  const day = (count: number) => count * DAY_MS;

  it("are whole days of the roll-up, and the rest before and after them", () => {
    const [one, seven] = planWindows(day(100) + HOUR_MS, day(100));
    expect(one).toEqual({ window: "d1", firstDay: null, spans: [{ from: day(99) + HOUR_MS, to: day(100) + HOUR_MS }] });
    expect(seven).toEqual({
      window: "d7",
      firstDay: day(94),
      spans: [
        { from: day(93) + HOUR_MS, to: day(94) },
        { from: day(100), to: day(100) + HOUR_MS },
      ],
    });
  });

  it.each([
    ["there is no roll-up", Number.NEGATIVE_INFINITY],
    ["the roll-up is from a clock that was ahead", day(102)],
  ])("are one span if %s", (_, openDay) => {
    const plans = planWindows(day(100) + HOUR_MS, openDay);
    expect(plans.every(({ firstDay, spans }) => firstDay === null && spans.length === 1)).toBe(true);
  });

  it("cover every millisecond once", () => {
    for (const openDay of [day(8), day(95), day(99), day(100)]) {
      for (const { window, firstDay, spans } of planWindows(day(100) + 12 * HOUR_MS, openDay)) {
        const whole = firstDay === null ? 0 : openDay - firstDay;
        const rest = spans.reduce((sum, { from, to }) => sum + to - from, 0);
        expect(whole + rest, `${window} ${openDay}`).toBe({ d1: 1, d7: 7, d30: 30, d90: 90 }[window] * DAY_MS);
      }
    }
  });
});
