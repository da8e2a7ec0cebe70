import { renderLatency } from "#control-plane/charts/latency.ts";
import { writePercent, type MonitorPage } from "#control-plane/dashboard/monitor/head.ts";
import { LATENCY } from "#control-plane/dashboard/strings/monitor.ts";
import type { Latency, LatencyRange } from "#control-plane/history/read/latency.ts";
import type { showIncident } from "#control-plane/incidents/view.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";

/** Ranges of the chart, the shortest first. */
const RANGES = Object.keys(LATENCY.ranges) as readonly LatencyRange[];

/** Reads the range of the page's address; another word is the shortest. */
export function rangeOf(given: unknown): LatencyRange {
  return RANGES.find((name) => name === given) ?? "d1";
}

/** What is marked in the chart. */
interface Marked {
  readonly incidents: readonly ReturnType<typeof showIncident>[];
  /** Unix milliseconds. */
  readonly maintenance: readonly { readonly from: number; readonly to: number }[];
}

const renderTop: (top: {
  readonly id: number;
  readonly links: readonly { readonly range: string; readonly label: string; readonly isCurrent: boolean }[];
  readonly uptimes: readonly { readonly label: string; readonly value: string }[];
}) => string = compileTemplate(`
<section class="card" id="latency"><h2>${LATENCY.title}</h2>
<p class="row"><% for (const link of it.links) { %><a href="/app/monitors/<%= it.id %>?range=<%= link.range %>#latency"<% if (link.isCurrent) { %> aria-current="true"<% } %>><%= link.label %></a><% } %></p>
<% if (it.uptimes.length > 0) { %><p class="faint">${LATENCY.uptime}: <% for (const one of it.uptimes) { %><span><%= one.label %> <b><%= one.value %></b></span> <% } %></p><% } %>
`);

/** Renders the response times of a monitor by location, with its incidents and its maintenance, and its uptime. */
export function renderResponseTimes(
  { from, to, stepMs, series }: Latency,
  range: LatencyRange,
  { incidents, maintenance }: Marked,
  { monitor, viewer }: MonitorPage,
): string {
  const links = RANGES.map((name) => ({ range: name, label: LATENCY.ranges[name], isCurrent: name === range }));
  const uptimes = RANGES.flatMap((name) => {
    const value = monitor.uptime[name];
    return value === null ? [] : [{ label: LATENCY.ranges[name], value: writePercent(value) }];
  });
  const top = renderTop({ id: monitor.id, links, uptimes });
  if (series.length === 0) return `${top}<p>${LATENCY.none}</p></section>`;
  const chart = renderLatency(
    {
      label: `${LATENCY.title}, ${LATENCY.ranges[range]}`,
      from,
      to,
      stepMs,
      series: series.map(({ location, ...rest }) => ({ name: location, ...rest })),
      incidents: incidents.map((one) => ({
        from: Date.parse(one.started_at),
        to: one.resolved_at === null ? to : Date.parse(one.resolved_at),
        title: one.cause?.message ?? LATENCY.incident,
      })),
      maintenance: maintenance.map((span) => ({ ...span, title: LATENCY.maintenance })),
    },
    viewer,
  );
  return `${top}${chart}</section>`;
}
