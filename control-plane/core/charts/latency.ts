import { timeTicks, valueAxis, writeMs } from "#control-plane/core/charts/axes.ts";
import { isKnown, type LatencyPoint, type LatencySeries } from "#control-plane/core/charts/series.ts";
import { MOST_SERIES } from "#control-plane/core/charts/style.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Maximum number of rows of the table. */
const MOST_ROWS = 50;

/** Renders the medians of series as a table, with at most 50 of their steps; null if there are none. */
function renderValues(series: readonly LatencySeries[], { format }: ViewerTime): Html | null {
  const byTime = series.map(
    ({ points }) => new Map(points.flatMap(({ at, p50 }) => (isKnown(p50) ? [[at.getTime(), Math.round(p50)]] : []))),
  );
  const times = [...new Set(byTime.flatMap((values) => [...values.keys()]))].toSorted((a, b) => a - b);
  if (times.length === 0) return null;
  const every = Math.ceil(times.length / MOST_ROWS);
  const caption = `Median response times in ms${every === 1 ? "" : `, one of ${every} steps`}`;
  const names = series.map(({ name }) => html`<th scope="col">${name}`);
  // End tags that HTML allows to leave out are left out: they would be a third of the table.
  const rows = times
    .filter((_, index) => index % every === 0)
    .map((at) => {
      const cells = byTime.map((values) => html`<td>${values.get(at) ?? "-"}`);
      return html`<tr><th scope="row">${format(at, "minute")}${cells}`;
    });
  return html`<details><summary>Values as a table</summary><div role="group" tabindex="0" aria-label="Values"><table><caption>${caption}</caption><thead><tr><th scope="col">Time${names}<tbody>${rows}</table></div></details>`;
}

/** A time that is marked in a chart, in Unix milliseconds. */
interface MarkedTime {
  readonly from: number;
  readonly to: number;
  readonly title: string;
}

/** A chart of response times. */
export interface LatencyChart {
  /** What it shows: "Response time, 24 hours". */
  readonly label: string;
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  /** Six are drawn, the others are named. */
  readonly series: readonly LatencySeries[];
  readonly incidents: readonly MarkedTime[];
  readonly maintenance: readonly MarkedTime[];
}

/** Size of the drawing. It is stretched to the width of the page; lines and texts keep theirs. */
const WIDTH = 1_000;
const HEIGHT = 100;
/** Height of the drawing and of its space for labels, in pixels. */
const PLOT_PX = 160;
const ABOVE_PX = 8;
const BELOW_PX = 24;
/** Most marked times of a kind; the newest are drawn. */
const MOST_MARKED = 50;
/** Most names of series that are not drawn. */
const MOST_NAMED = 20;

/**
 * Renders a chart as a figure: a line of the median and of the 95th percentile for each series, in a drawing without
 * script; a legend with figures; and the values as a table. With one series, the percentiles are an area. Where a step
 * has no value, nothing is drawn.
 */
export function renderLatency(chart: LatencyChart, time: ViewerTime): Html {
  const drawn = chart.series.slice(0, MOST_SERIES);
  const others = chart.series.slice(MOST_SERIES);
  const axis = valueAxis(
    Math.max(0, ...drawn.flatMap(({ points }) => points.flatMap(({ p50, p95 }) => [p50, p95].filter(isKnown)))),
  );
  const ticks = timeTicks(chart.from, chart.to, time);
  const grid = [
    ...axis.ticks.map(({ at }) => `M0 ${Math.round((1 - at) * HEIGHT * 10) / 10}h${WIDTH}`),
    ...ticks.map(({ at }) => `M${Math.round(at * WIDTH)} ${HEIGHT}v-3`),
  ];
  const isEmpty = drawn.every(({ points }) => points.every(({ p50 }) => !isKnown(p50)));
  return html`
    <figure class="cl"><svg role="img" height="${PLOT_PX + ABOVE_PX + BELOW_PX}" aria-label="${chart.label}. ${describeSeries(drawn)}"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" y="${ABOVE_PX}" height="${PLOT_PX}">
    ${renderMarks(chart, chart.maintenance, "cw", (x, width) => `M${x} ${HEIGHT / 2}h${width}`)}
    ${renderMarks(chart, chart.incidents, "ci", (x, width) => `M${x} 0h${width}v${HEIGHT}h-${width}z`)}
    <path class="cx" d="${grid.join("")}"/>
    ${drawn.flatMap((series, index) => renderShapes(chart, series, axis.most, index, drawn.length === 1))}
    </svg>
    ${axis.ticks.map(({ at, label }) => html`<text x="-8" y="${Math.round(ABOVE_PX + (1 - at) * PLOT_PX) + 4}" text-anchor="end">${label}</text>`)}
    ${ticks.map(({ at, label }, index) => html`<text${isSpare(ticks, index) && html` class="co"`} x="${Math.round(at * 1_000) / 10}%" y="${PLOT_PX + ABOVE_PX + 18}" text-anchor="middle">${label}</text>`)}
    ${isEmpty && html`<text x="50%" y="${PLOT_PX / 2 + 12}" text-anchor="middle">No response times in this period</text>`}
    </svg>
    ${drawn.length > 0 && html`<ul>${drawn.map(renderLegend)}</ul>`}
    ${others.length > 0 && html`<p dir="auto">Not drawn: ${listNames(others)}</p>`}
    ${renderValues(drawn, time)}</figure>`;
}

function renderLegend({ name, last, p50, p95 }: LatencySeries, index: number): Html {
  return html`<li><svg class="c${index + 1}" viewBox="0 0 32 8" aria-hidden="true"><path d="M1 4h30"/></svg><b dir="auto">${name}</b> last ${writeOptional(last)}, p50 ${writeOptional(p50)}, p95 ${writeOptional(p95)}</li>`;
}

/** Reports whether a narrow chart leaves the label of a tick out: every second one, but not that of a new day. */
function isSpare(ticks: readonly { readonly isDay: boolean }[], index: number): boolean {
  const day = Math.max(
    0,
    ticks.findIndex(({ isDay }) => isDay),
  );
  return ticks.length > 4 && index % 2 !== day % 2;
}

function writeOptional(ms: number | null): string {
  return isKnown(ms) ? writeMs(ms) : "none";
}

function describeSeries(series: readonly LatencySeries[]): string {
  const known = series.filter(({ p50 }) => isKnown(p50));
  if (known.length === 0) return "No response times";
  return known.map(({ name, p50, p95 }) => `${name}: p50 ${writeOptional(p50)}, p95 ${writeOptional(p95)}`).join("; ");
}

function listNames(series: readonly LatencySeries[]): string {
  const names = series.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = series.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Returns the place of a time in the drawing. */
function scale({ from, to }: Pick<LatencyChart, "from" | "to">, at: number): number {
  return ((Math.min(Math.max(at, from), to) - from) / (to - from)) * WIDTH;
}

/** Returns the middle of the part of a step that lies in the chart. */
function middleOf({ from, to, stepMs }: LatencyChart, at: number): number {
  return (Math.max(at, from) + Math.min(at + stepMs, to)) / 2;
}

/** Renders the marked times that lie in the chart. */
function renderMarks(
  chart: Pick<LatencyChart, "from" | "to">,
  times: readonly MarkedTime[],
  name: string,
  outline: (x: number, width: number) => string,
): readonly Html[] {
  return times
    .filter((one) => one.from < chart.to && one.to > chart.from)
    .slice(-MOST_MARKED)
    .map((one) => {
      const x = Math.round(scale(chart, one.from) * 10) / 10;
      // At least two units, so that a short one can be seen.
      const width = Math.max(2, Math.round((scale(chart, one.to) - x) * 10) / 10);
      return html`<path class="${name}" d="${outline(x, width)}"><title>${one.title}</title></path>`;
    });
}

function renderShapes(
  chart: LatencyChart,
  { points }: LatencySeries,
  most: number,
  index: number,
  isSingle: boolean,
): readonly Html[] {
  const runs = runsOf(points, chart);
  const lineOf = (of: (point: LatencyPoint) => number): Runs =>
    runs.map((run) =>
      run.map((point) => ({
        x: scale(chart, middleOf(chart, point.at.getTime())),
        y: (1 - Math.max(0, of(point)) / most) * HEIGHT,
      })),
    );
  const median = lineOf(({ p50 }) => p50 ?? 0);
  const high = lineOf(({ p50, p95 }) => (isKnown(p95) ? p95 : (p50 ?? 0)));
  if (median.length === 0) return [];
  const colour = `c${index + 1}`;
  const line = html`<path class="${colour}" d="${linePath(median)}"/>`;
  if (isSingle) return [html`<path class="ca ${colour}" d="${bandPath(high, median)}"/>`, line];
  return [html`<path class="ch ${colour}" d="${linePath(high)}"/>`, line];
}

/** Divides the points of a chart with a median into runs of steps that follow each other. */
function runsOf(
  points: readonly LatencyPoint[],
  { from, to, stepMs }: LatencyChart,
): readonly (readonly LatencyPoint[])[] {
  const runs: LatencyPoint[][] = [];
  let previous = Number.NEGATIVE_INFINITY;
  for (const point of points) {
    const at = point.at.getTime();
    if (!isKnown(point.p50) || at + stepMs <= from || at >= to) continue;
    if (at - previous > stepMs * 1.5) runs.push([]);
    runs.at(-1)?.push(point);
    previous = at;
  }
  return runs;
}

/** A place in a drawing; y grows downwards. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places of a line, in runs: nothing is drawn from the end of a run to the next one. */
type Runs = readonly (readonly Place[])[];

/** Returns the path of a line (SVG 2, section 9.3). A run of one place is a dot, if lines have round ends. */
export function linePath(runs: Runs): string {
  return runs.map((run) => (run.length === 1 ? `${moves(run)}h0` : moves(run))).join("");
}

/** Returns the path of the area between two lines that have the same runs. */
export function bandPath(upper: Runs, lower: Runs): string {
  return upper.map((run, index) => `${moves([...run, ...(lower[index] ?? []).toReversed()])}z`).join("");
}

/**
 * Writes a run in relative steps, which are shorter. Places are rounded first, to one decimal, so that the errors of
 * steps do not add up.
 */
function moves(run: readonly Place[]): string {
  let [x, y] = [0, 0];
  const steps = run.map((place, index) => {
    const [nextX, nextY] = [Math.round(place.x * 10), Math.round(place.y * 10)];
    const step = `${index === 0 ? "M" : index === 1 ? "l" : ""}${tenths(nextX - x)} ${tenths(nextY - y)}`;
    [x, y] = [nextX, nextY];
    return step;
  });
  // A minus sign, like a letter, ends the number before it.
  return steps.join(" ").replaceAll(/ (?=[-l])/g, "");
}

/** Writes a number of tenths without a leading zero: ".5", "-.5", "12", "0". */
function tenths(value: number): string {
  return String(value / 10).replace(/^(-?)0\./, "$1.");
}
