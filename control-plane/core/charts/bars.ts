import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** What a cell of a strip shows; none: nothing was watched yet. */
type CellState = "up" | "degraded" | "down" | "maintenance" | "unknown" | "none";

/** Steps of time that follow each other and are drawn as one. Times are in Unix milliseconds, `to` excluded. */
export interface Cell {
  readonly from: number;
  readonly to: number;
  /** Number of steps. */
  readonly steps: number;
  readonly state: CellState;
  /** Says what the state was, without the time. */
  readonly title: string;
}

/** Time in states over a whole strip, in milliseconds. */
interface Totals {
  readonly downMs: number;
  readonly degradedMs: number;
  readonly unknownMs: number;
  readonly maintenanceMs: number;
}

/** A strip of cells, the oldest first. */
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
 * longest. Neighbours with the same state and title become one cell.
 */
export function toStrip(label: string, by: Strip["by"], steps: readonly StepTimes[]): Strip {
  const totals = { downMs: 0, degradedMs: 0, unknownMs: 0, maintenanceMs: 0 };
  const cells: { from: number; to: number; steps: number; state: CellState; title: string }[] = [];
  for (const step of steps) {
    totals.downMs += step.downMs;
    totals.degradedMs += step.isSlow ? step.upMs : 0;
    totals.unknownMs += step.unknownMs;
    totals.maintenanceMs += step.maintenanceMs;
    const { state, title } = describeStep(step);
    const last = cells.at(-1);
    if (last?.state === state && last.title === title) {
      last.to = step.to;
      last.steps += 1;
    } else cells.push({ from: step.from, to: step.to, steps: 1, state, title });
  }
  return { label, by, cells, totals };
}

/** What steps without downtime show. */
const QUIET = {
  none: { state: "none", title: "not watched yet" },
  maintenance: { state: "maintenance", title: "maintenance" },
  unknown: { state: "unknown", title: "no data" },
  degraded: { state: "degraded", title: "degraded" },
  up: { state: "up", title: "up" },
} as const;

function describeStep({ upMs, downMs, unknownMs, maintenanceMs, isSlow }: StepTimes): Pick<Cell, "state" | "title"> {
  if (downMs > 0) return { state: "down", title: `down ${writeDuration(Math.max(1, downMs / 1_000))}` };
  const longest = Math.max(upMs, unknownMs, maintenanceMs);
  if (longest <= 0) return QUIET.none;
  if (longest === maintenanceMs) return QUIET.maintenance;
  if (longest === unknownMs) return QUIET.unknown;
  return isSlow ? QUIET.degraded : QUIET.up;
}

/** Height of a strip in units of its viewBox. A cell is one unit wide. */
const HEIGHT = 20;

/**
 * The outline of each state, from the left edge of a cell to its width. No two have the same: down is as high as
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

/** Renders a strip as SVG. The zone of a strip by days must be that in which its days begin. */
export function renderBars({ label, by, cells, totals }: Strip, time: ViewerTime): Html {
  let count = 0;
  const bars: Html[] = [];
  for (const { from, to, steps, state, title } of cells) {
    if (state !== "none") {
      const span = writeSpan({ from, to }, by, time);
      bars.push(
        html`<path class="${CLASSES[state]}" d="${OUTLINES[state](count, steps)}"><title>${span}: ${title}</title></path>`,
      );
    }
    count += steps;
  }
  const name = `${label}: ${writeTotals(totals)}`;
  return html`<svg class="cb cb${count}" viewBox="0 0 ${count} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${name}">${bars}</svg>`;
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
