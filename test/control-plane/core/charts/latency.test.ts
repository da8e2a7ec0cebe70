import { describe, expect, it } from "vitest";
import { timeTicks, valueAxis, writeMs } from "#control-plane/core/charts/axes.ts";
import { renderLatency, type LatencyChart, bandPath, linePath } from "#control-plane/core/charts/latency.ts";
import type { LatencySeries } from "#control-plane/core/charts/series.ts";
import { CHART_STYLE, MOST_SERIES } from "#control-plane/core/charts/style.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { createDice } from "#test/control-plane/outages/history/random.ts";
import { BERLIN, KOLKATA, UTC } from "#test/control-plane/core/charts/zones.ts";

const HOUR_MS = 3_600_000;
const FROM = Date.parse("2026-11-26T00:00:00Z");
const TIME = viewerTimeIn(UTC);

/** Series by hours from their medians; undefined: no point at all. */
function seriesOf(name: string, medians: readonly (number | null | undefined)[]): LatencySeries {
  const points = medians.flatMap((p50, index) =>
    p50 === undefined ? [] : [{ at: new Date(FROM + index * HOUR_MS), p50, p95: p50 === null ? null : p50 * 2 }],
  );
  return { name, points, last: 1, p50: 100, p95: 2_345 };
}

function chartOf(series: readonly LatencySeries[], more: Partial<LatencyChart> = {}): LatencyChart {
  return {
    label: "Response time",
    from: FROM,
    to: FROM + 10 * HOUR_MS,
    stepMs: HOUR_MS,
    series,
    incidents: [],
    maintenance: [],
    ...more,
  };
}

/** The paths of a class. */
function pathsOf(html: string, name: string): readonly string[] {
  return Array.from(html.matchAll(new RegExp(`<path class="${name}" d="([^"]*)"`, "g")), ([, d = ""]) => d);
}

const render = (...given: Parameters<typeof renderLatency>): string => String(renderLatency(...given));

describe("an axis of values", () => {
  it.each([
    [0, ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]],
    [3, ["0 ms", "1 ms", "2 ms", "3 ms"]],
    [99, ["0 ms", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]],
    [101, ["0 ms", "50 ms", "100 ms", "150 ms"]],
    [700, ["0 ms", "200 ms", "400 ms", "600 ms", "800 ms"]],
    [2_400, ["0 s", "0.5 s", "1 s", "1.5 s", "2 s", "2.5 s"]],
    [65_000, ["0 s", "20 s", "40 s", "60 s", "80 s"]],
  ])("up to %d ms has steps of 1, 2 or 5", (largest, labels) => {
    const { most, ticks } = valueAxis(largest);
    expect(ticks.map(({ label }) => label)).toEqual(labels);
    expect(most).toBeGreaterThanOrEqual(largest);
  });

  it.each([1e15, 1e300, Number.MAX_VALUE / 10])("up to %d ms has few ticks, each a number", (largest) => {
    const { most, ticks } = valueAxis(largest);
    expect(most).toBeGreaterThanOrEqual(largest);
    expect(ticks.length).toBeLessThanOrEqual(6);
    for (const { label } of ticks) expect(label).toMatch(/^\d/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -5])("of %d is that of no value", (largest) => {
    expect(valueAxis(largest)).toEqual(valueAxis(0));
  });

  it("writes response times in milliseconds below 2 s", () => {
    expect([0.4, 119.6, 1_999, 2_345, 61_000].map(writeMs)).toEqual(["0 ms", "120 ms", "1999 ms", "2.35 s", "61 s"]);
  });
});

describe("an axis of time", () => {
  const labels = (from: string, to: string, zone = UTC) =>
    timeTicks(Date.parse(from), Date.parse(to), viewerTimeIn(zone)).map(({ label }) => label);

  it("has whole hours of the viewer's clock, and names each new day", () => {
    expect(labels("2026-11-26T12:10Z", "2026-11-27T12:10Z", KOLKATA)).toEqual([
      "18:00",
      "21:00",
      "27 Nov",
      "03:00",
      "06:00",
      "09:00",
      "12:00",
      "15:00",
    ]);
  });

  it("keeps to the clock where the clocks change", () => {
    expect(labels("2026-10-24T22:00Z", "2026-10-25T23:00Z", BERLIN)).toEqual([
      "25 Oct",
      "06:00",
      "12:00",
      "18:00",
      "26 Oct",
    ]);
    const places = timeTicks(Date.parse("2026-10-24T22:00Z"), Date.parse("2026-10-25T23:00Z"), viewerTimeIn(BERLIN));
    // 25 hours, the first six of the clock took seven.
    expect(places.map(({ at }) => Math.round(at * 25))).toEqual([0, 7, 13, 19, 25]);
  });

  it.each([
    ["2026-11-26T12:00Z", "2026-11-26T13:00Z"],
    ["2026-11-20T12:00Z", "2026-11-27T12:00Z"],
    ["2026-10-28T12:00Z", "2026-11-27T12:00Z"],
    ["2026-08-29T12:00Z", "2026-11-27T12:00Z"],
    ["2020-01-01T00:00Z", "2026-11-27T12:00Z"],
    ["1970-01-01T00:00Z", "2026-11-27T12:00Z"],
  ])("from %s to %s has one to nine ticks", (from, to) => {
    expect(labels(from, to).length).toBeGreaterThan(0);
    expect(labels(from, to).length).toBeLessThanOrEqual(9);
  });
});

describe("a path", () => {
  it("has one decimal at most, and its rounding does not add up", () => {
    const run = Array.from({ length: 1_000 }, (_, index) => ({ x: index / 3, y: index / 7 }));
    const d = linePath([run]);
    const numbers = d.match(/-?\d*\.?\d+/g) ?? [];
    for (const number of numbers) expect(number).toMatch(/^-?(?:\d+|\d*\.\d)$/);
    const sum = numbers.map(Number).reduce((at, step, index) => (index % 2 === 0 ? at + step : at), 0);
    expect(sum).toBeCloseTo(333, 5);
  });

  it("begins anew with each run, and a single place is a dot", () => {
    const d = linePath([
      [
        { x: 0, y: 1 },
        { x: 5, y: 0.5 },
      ],
      [{ x: 20, y: 3 }],
    ]);
    expect(d).toBe("M0 1l5-.5M20 3h0");
  });

  it("of an area goes along one line and back along the other", () => {
    const upper = [
      { x: 0, y: 0 },
      { x: 10, y: 0 },
    ];
    const lower = [
      { x: 0, y: 5 },
      { x: 10, y: 5 },
    ];
    expect(bandPath([upper], [lower])).toBe("M0 0l10 0 0 5-10 0z");
  });
});

describe("a chart of response times", () => {
  it("has a line of the median and one of the 95th percentile for each series, in a style of its own", () => {
    const html = render(chartOf([seriesOf("eu", [1, 2, 3]), seriesOf("us", [4, 5, 6])]), TIME);
    for (const name of ["c1", "c2", "ch c1", "ch c2"]) expect(pathsOf(html, name)).toHaveLength(1);
  });

  it("fills the space between the percentiles of a single series", () => {
    const html = render(chartOf([seriesOf("eu", [1, 2, 3])]), TIME);
    expect(pathsOf(html, "ca c1")[0]).toMatch(/z$/);
    expect(pathsOf(html, "ch c1")).toEqual([]);
  });

  it("draws nothing over a gap, whether the point is missing or has no value", () => {
    const html = render(chartOf([seriesOf("eu", [1, 2, undefined, 3, null, 4, 5])]), TIME);
    expect(pathsOf(html, "c1")[0]?.split("M")).toHaveLength(4);
  });

  it("draws a single point as a dot in the middle of its step", () => {
    const html = render(chartOf([seriesOf("eu", [undefined, 50])]), TIME);
    expect(pathsOf(html, "c1")).toEqual(["M150 50h0"]);
    expect(html).not.toContain("No response times in this period");
  });

  it.each([
    ["no series", []],
    ["no points", [seriesOf("eu", [])]],
    ["gaps alone", [seriesOf("eu", [null, null])]],
  ])("of %s says so", (_, series) => {
    const html = render(chartOf(series), TIME);
    expect(html).toContain("No response times in this period");
    expect(html).toContain("Response time. ");
    expect(html).not.toMatch(/NaN|Infinity|undefined|<table/);
  });

  it("keeps values that are no numbers, and huge ones, out of its paths", () => {
    const medians = [Number.NaN, Number.POSITIVE_INFINITY, -4, 1e300, 5];
    const html = render(chartOf([{ ...seriesOf("eu", medians), last: Number.NaN }]), TIME);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
    expect(pathsOf(html, "c1")).toHaveLength(1);
  });

  it("marks incidents and maintenance within its time, in different ways", () => {
    const times = (title: string) => [
      { from: FROM - 5 * HOUR_MS, to: FROM + HOUR_MS, title },
      { from: FROM - 5 * HOUR_MS, to: FROM, title: "before" },
      { from: FROM + 10 * HOUR_MS, to: FROM + 11 * HOUR_MS, title: "after" },
    ];
    const html = render(chartOf([], { incidents: times("an outage"), maintenance: times("a change") }), TIME);
    expect(pathsOf(html, "ci")).toEqual(["M0 0h100v100h-100z"]);
    expect(pathsOf(html, "cw")).toEqual(["M0 50h100"]);
    expect(html).toContain("<title>an outage</title>");
    expect(html).not.toMatch(/before|after/);
  });

  it("has a legend with the figures of each series", () => {
    const html = render(chartOf([seriesOf("eu", [1])]), TIME);
    expect(html).toContain("eu</b> last 1 ms, p50 100 ms, p95 2.35 s</li>");
    expect(html).toContain(`aria-label="Response time. eu: p50 100 ms, p95 2.35 s"`);
  });

  it("draws six series and names the others, at most 20 of them", () => {
    const many = Array.from({ length: 40 }, (_, index) => seriesOf(`place-${index}`, [1, 2]));
    const html = render(chartOf(many), TIME);
    expect(pathsOf(html, "c6")).toHaveLength(1);
    expect(pathsOf(html, "c7")).toEqual([]);
    expect(html).toContain("Not drawn: place-6, place-7, ");
    expect(html).toContain("place-25 and 14 more");
    expect(html).not.toContain("place-26");
  });

  it("has its values as a table of at most 50 rows, with a hole where there is none", () => {
    const medians = Array.from({ length: 120 }, (_, index) => index);
    const html = render(
      chartOf([seriesOf("eu", medians), seriesOf("us", [7])], { to: FROM + 120 * HOUR_MS }),
      viewerTimeIn(BERLIN),
    );
    expect(html).toContain("Median response times in ms, one of 3 steps");
    expect(html).toContain(`<th scope="row">26 Nov 01:00<td>0<td>7<tr><th scope="row">26 Nov 04:00<td>3<td>-<tr>`);
    expect(html.match(/scope="row"/g)).toHaveLength(40);
  });

  it("escapes every name and title", () => {
    const hostile = `"><script>alert(1)</script><img onerror='x'>&`;
    const html = render(
      chartOf(
        Array.from({ length: 8 }, () => seriesOf(hostile, [1, 2])),
        { label: hostile, incidents: [{ from: FROM, to: FROM + 1, title: hostile }] },
      ),
      TIME,
    );
    expect(html).not.toMatch(/<script|<img/);
    expect(html).toContain("&lt;script&gt;");
  });

  it("has no style attribute, no script and no id, with six series of 200 points in 20,000 bytes", () => {
    const dice = createDice(7);
    const series = Array.from({ length: MOST_SERIES }, (_, index) =>
      seriesOf(
        `region-${index}`,
        Array.from({ length: 200 }, () => 100 * (index + 1) + dice.below(60)),
      ),
    );
    const html = render(chartOf(series, { to: FROM + 200 * HOUR_MS }), TIME);
    expect(Buffer.byteLength(html)).toBeLessThan(20_000);
    expect(html).not.toMatch(/\sstyle=|\sid=|\son\w+=|<script|<style/);
  });
});

describe("the style of charts", () => {
  it("has less than 3 KB, and loads nothing", () => {
    expect(Buffer.byteLength(CHART_STYLE)).toBeLessThan(3_000);
    expect(CHART_STYLE).not.toMatch(/url\(|@import|<|\n/);
  });

  it("has a colour in both schemes for each series, and dashes of its own for all but the first", () => {
    for (let index = 1; index <= MOST_SERIES; index += 1) {
      expect(CHART_STYLE.match(new RegExp(`--c${index}:#`, "g"))).toHaveLength(2);
    }
    const dashes = Array.from(CHART_STYLE.matchAll(/\.c\d\{[^}]*stroke-dasharray:([^}]+)\}/g), ([, one]) => one);
    expect(new Set(dashes).size).toBe(MOST_SERIES - 1);
  });
});
