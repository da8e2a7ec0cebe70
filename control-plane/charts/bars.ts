import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/charts/viewer-time.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** What a cell of a strip shows; none: nothing was watched yet. */
type CellState = "up" | "degraded" | "down" | "maintenance" | "unknown" | "none";

/** A cell: a step of time, in Unix milliseconds, `to` excluded. */
export interface Cell {
  readonly from: number;
  readonly to: number;
  readonly state: CellState;
  /** Says what the state was, without the time. Neighbours with the same state and title are drawn as one. */
  readonly title: string;
}

/** Time in states over a whole strip, in milliseconds. */
interface Totals {
  readonly downMs: number;
  readonly degradedMs: number;
  readonly unknownMs: number;
  readonly maintenanceMs: number;
}

/** A strip of cells of equal length, the oldest first. */
export interface Strip {
  /** The length of the whole: "24 hours". */
  readonly label: string;
  /** How exact the times of cells are written. */
  readonly by: "minute" | "day";
  readonly cells: readonly Cell[];
  readonly totals: Totals;
}

/** What is known of a step of time: milliseconds in each status. All of them are 0 before a monitor exists. */
interface StepTimes {
  readonly from: number;
  readonly to: number;
  readonly upMs: number;
  readonly downMs: number;
  readonly unknownMs: number;
  readonly maintenanceMs: number;
  /** Whether it answered too slowly for a relevant part of the step. */
  readonly isSlow: boolean;
}

/**
 * Makes a strip of steps of a history. Any downtime makes a step down, so that none is missed; else it shows what lasted
 * longest.
 */
export function toStrip(label: string, by: Strip["by"], steps: readonly StepTimes[]): Strip {
  const sum = (of: (step: StepTimes) => number) => steps.reduce((total, step) => total + of(step), 0);
  return {
    label,
    by,
    cells: steps.map((step) => ({ from: step.from, to: step.to, ...describeStep(step) })),
    totals: {
      downMs: sum(({ downMs }) => downMs),
      degradedMs: sum(({ isSlow, upMs }) => (isSlow ? upMs : 0)),
      unknownMs: sum(({ unknownMs }) => unknownMs),
      maintenanceMs: sum(({ maintenanceMs }) => maintenanceMs),
    },
  };
}

function describeStep({ upMs, downMs, unknownMs, maintenanceMs, isSlow }: StepTimes): Pick<Cell, "state" | "title"> {
  if (downMs > 0) return { state: "down", title: `down ${writeDuration(Math.max(1, downMs / 1_000))}` };
  const longest = Math.max(upMs, unknownMs, maintenanceMs);
  if (longest <= 0) return { state: "none", title: "not watched yet" };
  if (longest === maintenanceMs) return { state: "maintenance", title: "maintenance" };
  if (longest === unknownMs) return { state: "unknown", title: "no data" };
  return isSlow ? { state: "degraded", title: "degraded" } : { state: "up", title: "up" };
}

/** Height of a strip in units of its viewBox. A cell is one unit wide. */
const HEIGHT = 20;

/**
 * The outline of each state, from the left edge of a run of cells to its width. No two have the same: down is as high as
 * the strip, degraded has a slit, maintenance is a line as wide as a bar that the style dashes, and no data is low.
 */
const OUTLINES: Readonly<Record<Exclude<CellState, "none">, (x: number, width: number) => string>> = {
  up: (x, width) => bar(x, width, 14),
  degraded: (x, width) => `${bar(x, width, 9)}M${x} 6h${width}v3h-${width}z`,
  down: (x, width) => bar(x, width, HEIGHT),
  maintenance: (x, width) => `M${x} 13h${width}`,
  unknown: (x, width) => bar(x, width, 4),
};

function bar(x: number, width: number, height: number): string {
  return `M${x} ${HEIGHT}h${width}v-${height}h-${width}z`;
}

/** Classes of the style (style.ts). */
const CLASSES = { up: "cu", degraded: "cg", down: "cd", maintenance: "cm", unknown: "cn" } as const;

/** A run of cells as the template writes it. */
interface Run {
  readonly name: string;
  readonly d: string;
  readonly title: string;
}

const renderStrip: (strip: {
  readonly count: number;
  readonly label: string;
  readonly runs: readonly Run[];
}) => string = compileTemplate(
  `<svg class="cb cb<%= it.count %>" viewBox="0 0 <%= it.count %> ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="<%= it.label %>">` +
    `<% for (const run of it.runs) { %><path class="<%= run.name %>" d="<%= run.d %>"><title><%= run.title %></title></path><% } %></svg>`,
);

/** Renders a strip as SVG. The zone of a strip by days must be that in which its days begin. */
export function renderBars({ label, by, cells, totals }: Strip, time: ViewerTime): string {
  const runs = runsOf(cells).flatMap(({ first, last, from, to, state, title }): Run[] => {
    if (state === "none") return [];
    const d = OUTLINES[state](first, last - first + 1);
    return [{ name: CLASSES[state], d, title: `${writeSpan({ from, to }, by, time)}: ${title}` }];
  });
  return renderStrip({ count: cells.length, label: `${label}: ${writeTotals(totals)}`, runs });
}

/** Joins neighbours with the same state and title. `first` and `last` are indices of cells. */
function runsOf(cells: readonly Cell[]): readonly (Cell & { readonly first: number; readonly last: number })[] {
  const runs: { first: number; last: number; from: number; to: number; state: CellState; title: string }[] = [];
  for (const [index, { from, to, state, title }] of cells.entries()) {
    const run = runs.at(-1);
    if (run?.state === state && run.title === title) [run.last, run.to] = [index, to];
    else runs.push({ first: index, last: index, from, to, state, title });
  }
  return runs;
}

/** Writes a time from its first to its last day, or from its beginning to its end. */
function writeSpan({ from, to }: Pick<Cell, "from" | "to">, by: Strip["by"], { format }: ViewerTime): string {
  const [first, last] = [format(from, by), format(by === "day" ? to - 1 : to, by)];
  return first === last ? first : `${first} to ${last}`;
}

function writeTotals({ downMs, degradedMs, unknownMs, maintenanceMs }: Totals): string {
  const of = (word: string, ms: number) => `${word} ${ms < 500 ? "0" : writeDuration(ms / 1_000)}`;
  const always = [of("down", downMs), of("degraded", degradedMs), of("no data", unknownMs)];
  return [...always, ...(maintenanceMs < 500 ? [] : [of("maintenance", maintenanceMs)])].join(", ");
}
