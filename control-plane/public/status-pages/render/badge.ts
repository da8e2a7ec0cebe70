import { createRequire } from "node:module";
import type * as badges from "badge-maker";
import type { PageView, ShownMonitor } from "#control-plane/public/status-pages/page.ts";
import {
  GREEN,
  GREY,
  ORANGE,
  OVERALL_COLOURS,
  RED,
  STATUS_COLOURS,
  YELLOW,
} from "#control-plane/public/status-pages/render/colours.ts";
import { listMonitors } from "#control-plane/public/status-pages/render/monitor-names.ts";
import {
  formatPercent,
  formatSince,
  OVERALL_LABELS,
  STATUS_LABELS,
} from "#control-plane/public/status-pages/render/labels.ts";

/** Choices of a badge. */
export interface BadgeChoice {
  /** Text on the left; null or invisible: "status", or "uptime". */
  readonly label: string | null;
  /** Shows this monitor instead of the whole page. */
  readonly monitorId: number | null;
  /** Whether to show the uptime of 90 days instead of the status. */
  readonly isUptime: boolean;
}

const LABEL_COLOUR = "#444c56";

/** Renders the badge of a page or of one of its monitors; null if the page has no such monitor. */
export function renderBadge(view: PageView, { label, monitorId, isUptime }: BadgeChoice): string | null {
  const monitors = listMonitors(view).filter(({ id }) => monitorId === null || id === monitorId);
  const [monitor] = monitors;
  if (monitorId !== null && monitor === undefined) return null;
  const { stale } = view;
  const [message, colour] = isUptime
    ? uptimeOf(monitors)
    : stale !== null
      ? (["out of date", GREY] as const)
      : monitorId === null || monitor === undefined
        ? ([OVERALL_LABELS[view.overallStatus].toLowerCase(), OVERALL_COLOURS[view.overallStatus]] as const)
        : ([STATUS_LABELS[monitor.status].toLowerCase(), STATUS_COLOURS[monitor.status]] as const);
  const visible = (label ?? "").replaceAll(INVISIBLE, "").trim();
  return drawBadge(visible || (isUptime ? "uptime" : "status"), message, colour);
}

/** Renders a badge with the reason why there is no other one. */
export function renderErrorBadge(reason: string): string {
  return drawBadge("status", reason, GREY);
}

/** Returns the mean uptime of monitors, since when if that is not 90 days, and its colour. */
function uptimeOf(monitors: readonly ShownMonitor[]): readonly [message: string, colour: string] {
  const known = monitors.flatMap(({ uptime90 }) => (uptime90 === null ? [] : [uptime90]));
  if (known.length === 0) return ["unknown", GREY];
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const colour = mean >= 99.9 ? GREEN : mean >= 99 ? YELLOW : mean >= 95 ? ORANGE : RED;
  const since = formatSince(monitors);
  const percent = formatPercent(Math.floor(mean * 1_000) / 1_000);
  // Two words more only where the window is not whole.
  return [since.startsWith("since") ? `${percent} ${since}` : percent, colour];
}

/** Characters without a form of their own: controls, formats (also those of text direction), lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

const require = createRequire(import.meta.url);

/** Draws a badge. The library's tables of the widths of characters take 7 MB: they are loaded with the first badge. */
function drawBadge(label: string, message: string, color: string): string {
  const { makeBadge } = require("badge-maker") as typeof badges;
  return makeBadge({ label, message, color, labelColor: LABEL_COLOUR, style: "flat" });
}
