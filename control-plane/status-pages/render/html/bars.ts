import type { ShownDay } from "#control-plane/status-pages/page.ts";
import { dayOf, formatDay, formatDuration, formatPercent } from "#control-plane/status-pages/render/words.ts";

/** A day as a bar: the class of its shape in the style ("" for a day without downtime), and its figures in words. */
interface Bar {
  /** YYYY-MM-DD: digits and hyphens only. */
  readonly day: string;
  readonly shape: "" | "p" | "o" | "m" | "n";
  readonly words: string;
}

/** A day below this uptime, percent, is displayed as an outage: down for more than 72 minutes. */
const OUTAGE_BELOW = 95;

/** Returns the bar of a day. Throws a RangeError if the day is not a date. */
export function barOf(day: ShownDay): Bar {
  return { day: dayOf(new Date(day.day)), shape: shapeOf(day), words: `${formatDay(day.day)}: ${figuresOf(day)}` };
}

function shapeOf({ uptime, downSeconds, maintenanceSeconds }: ShownDay): Bar["shape"] {
  if (uptime !== null && downSeconds > 0) return uptime < OUTAGE_BELOW ? "o" : "p";
  if (maintenanceSeconds > 0) return "m";
  return uptime === null ? "n" : "";
}

function figuresOf({ uptime, downSeconds, maintenanceSeconds }: ShownDay): string {
  const figures = [
    ...(uptime === null ? [] : [`${formatPercent(uptime)} up`]),
    ...(downSeconds > 0 ? [`${formatDuration(downSeconds)} down`] : []),
    ...(maintenanceSeconds > 0 ? [`maintenance ${formatDuration(maintenanceSeconds)}`] : []),
  ];
  return figures.length === 0 ? "no data" : figures.join(", ");
}
