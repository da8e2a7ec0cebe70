import { writeDuration } from "#shared/text/duration.ts";
import { renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/frame/times.ts";
import type { MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { MONITOR_INCIDENTS } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import type { showIncident } from "#control-plane/outages/incidents/view.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const renderLine: (incident: {
  readonly id: number;
  readonly cause: string;
  readonly lasted: string;
  readonly isOpen: boolean;
}) => string =
  compileTemplate(`&#32;<a href="/app/incidents/<%= it.id %>"><%= it.cause %></a> <span class="<%= it.isOpen ? "bad" : "faint" %>"><%= it.lasted %></span></li>
`);

const renderMore: (more: { readonly monitorId: number; readonly text: string }) => string = compileTemplate(
  `<p><a href="/app/incidents?monitor=<%= it.monitorId %>"><%= it.text %></a></p>`,
);

/** Renders the newest incidents of a monitor, newest first. `total`: the number of all of them. */
export function renderIncidents(
  incidents: readonly ReturnType<typeof showIncident>[],
  total: number,
  { viewer, monitor }: MonitorPage,
): string {
  const lines = incidents.map((incident) => {
    const isOpen = incident.resolved_at === null;
    const lasted = writeDuration(incident.duration_seconds);
    const line = renderLine({
      id: incident.id,
      cause: toLocalTimes(incident.cause?.message ?? incident.title, viewer.zone.name),
      lasted: isOpen ? `${MONITOR_INCIDENTS.open} ${lasted}` : lasted,
      isOpen,
    });
    return `<li>${renderTime(new Date(incident.started_at), viewer)}${line}`;
  });
  const list = lines.length === 0 ? `<p>${MONITOR_INCIDENTS.none}</p>` : `<ul>${lines.join("")}</ul>`;
  const more =
    total > lines.length
      ? renderMore({ monitorId: monitor.id, text: MONITOR_INCIDENTS.more(total - lines.length) })
      : "";
  return `<section class="card"><h2>${MONITOR_INCIDENTS.title}</h2>${list}${more}</section>`;
}
