import { renderLatency } from "#control-plane/core/charts/latency.ts";
import { ageOf, writePercent, writeSince, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { LATENCY } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import type { Latency, LatencyRange } from "#control-plane/outages/history/read/latency.ts";
import type { showIncident } from "#control-plane/outages/incidents/view.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Ranges of the chart, the shortest first. */
const RANGES = Object.keys(LATENCY.ranges) as readonly LatencyRange[];

const DAY_MS = 86_400_000;

function daysOf(range: LatencyRange): number {
  return Number(range.slice(1));
}

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
  readonly uptime: string;
  readonly uptimes: readonly { readonly label: string; readonly value: string }[];
}) => string = compileTemplate(`
<section class="card" id="latency"><h2>${LATENCY.title}</h2>
<p class="row"><% for (const link of it.links) { %><a href="/app/monitors/<%= it.id %>?range=<%= link.range %>#latency"<% if (link.isCurrent) { %> aria-current="true"<% } %>><%= link.label %></a><% } %></p>
<% if (it.uptimes.length > 0) { %><p class="faint"><%= it.uptime %>: <% for (const one of it.uptimes) { %><span><%= one.label %> <b><%= one.value %></b></span> <% } %></p><% } %>
`);

/** Renders the response times of a monitor by location, with its incidents and its maintenance, and its uptime. */
export function renderResponseTimes(
  { from, to, stepMs, series }: Latency,
  range: LatencyRange,
  { incidents, maintenance }: Marked,
  page: MonitorPage,
): string {
  const { monitor, viewer } = page;
  const links = RANGES.map((name) => ({ range: name, label: LATENCY.ranges[name], isCurrent: name === range }));
  const age = ageOf(page);
  const uptimes = RANGES.flatMap((name, index) => {
    const value = monitor.uptime[name];
    if (value === null) return [];
    // A monitor that is younger than the shorter range has no more in this one.
    const isMore = index === 0 || age > daysOf(RANGES[index - 1] ?? "d1") * DAY_MS;
    return [{ label: LATENCY.ranges[name], value: isMore ? writePercent(value) : LATENCY.noWindow }];
  });
  const isYoung = age < daysOf(RANGES.at(-1) ?? "d90") * DAY_MS;
  const uptime = isYoung ? LATENCY.since(writeSince(page)) : LATENCY.uptime;
  const top = renderTop({ id: monitor.id, links, uptime, uptimes });
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
