import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/frame/times.ts";
import {
  isFiltered,
  KINDS,
  neighboursOf,
  STATES,
  writeIncidentsPath,
  type IncidentQuery,
} from "#control-plane/surfaces/dashboard/incidents/list-query.ts";
import { INCIDENTS } from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import { stateOf } from "#control-plane/public/incident-pages/show-incident.ts";
import type { readOpenFirst } from "#control-plane/outages/incidents/incidents.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

type Reading = Awaited<ReturnType<typeof readOpenFirst>>;
type Listed = Reading["incidents"][number];

/** A monitor to filter by, or to choose. */
export interface NamedMonitor {
  readonly id: number;
  readonly name: string;
}

/** What the list shows. */
interface IncidentList extends Reading {
  readonly query: IncidentQuery;
  /** Monitors to filter by. */
  readonly monitors: readonly NamedMonitor[];
  /** Whether the account still has a monitor. */
  readonly isKept: (id: number) => boolean;
  readonly viewer: ViewerTime;
  readonly canWrite: boolean;
}

const renderHead: (head: { readonly canWrite: boolean }) => string = compileTemplate(`
<div class="head"><h1>${INCIDENTS.title}</h1>
<% if (it.canWrite) { %><a class="button primary" href="/app/incidents/new">${INCIDENTS.openOne}</a><% } %></div>
`);

interface Select {
  readonly name: string;
  readonly label: string;
  readonly options: readonly { readonly value: string; readonly label: string; readonly isSelected: boolean }[];
}

const renderFilter: (filter: { readonly selects: readonly Select[]; readonly isFiltered: boolean }) => string =
  compileTemplate(`
<form class="filter" method="get" action="/app/incidents" role="search" data-kept>
<% for (const select of it.selects) { %>
<div class="field"><label for="s-<%= select.name %>"><%= select.label %></label><select id="s-<%= select.name %>" name="<%= select.name %>">
<% for (const option of select.options) { %><option value="<%= option.value %>"<% if (option.isSelected) { %> selected<% } %>><%= option.label %></option><% } %>
</select></div>
<% } %>
<div class="row"><button>${INCIDENTS.filter}</button><% if (it.isFiltered) { %> <a href="/app/incidents">${INCIDENTS.showAll}</a><% } %></div>
</form>
`);

const renderRow: (row: {
  readonly id: number;
  readonly tone: string;
  readonly state: string;
  readonly title: string;
  readonly cause: string;
  /** The title names it, so that a link to it need not; id null: it is deleted. */
  readonly monitor: { readonly id: number | null; readonly name: string } | null;
  readonly acknowledged: string | null;
}) => string = compileTemplate(`
<li id="i-<%= it.id %>"><span class="badge <%= it.tone %>"><%= it.state %></span>
<div class="what"><a href="/app/incidents/<%= it.id %>" data-row><%= it.title %></a><% if (it.cause !== "") { %><p><%= it.cause %></p><% } %></div>
<div class="strip"><% if (it.monitor === null) { %><span class="faint">${INCIDENTS.byHand}</span><% } else if (it.monitor.id === null) { %><%= it.monitor.name %><% } else { %><a href="/app/monitors/<%= it.monitor.id %>" aria-label="${INCIDENTS.monitor} <%= it.monitor.name %>">${INCIDENTS.monitor}</a><% } %>
<% if (it.acknowledged !== null) { %><p class="faint">${INCIDENTS.acknowledgedBy} <%= it.acknowledged %></p><% } %></div><div class="when">`);

const renderLasted: (row: { readonly lasted: string }) => string = compileTemplate(
  `&#32;<span class="faint"><%= it.lasted %></span></div></li>`,
);

const renderEnd: (end: {
  readonly count: string;
  readonly previous: string | null;
  readonly next: string | null;
}) => string = compileTemplate(`
<p class="faint"><%= it.count %></p>
<% if (it.previous !== null || it.next !== null) { %><nav class="row" aria-label="${INCIDENTS.pages}">
<% if (it.previous !== null) { %><a class="button" rel="prev" href="<%= it.previous %>">${INCIDENTS.newer}</a><% } %>
<% if (it.next !== null) { %><a class="button" rel="next" href="<%= it.next %>">${INCIDENTS.older}</a><% } %></nav><% } %>
`);

const renderEmpty: (empty: { readonly isFiltered: boolean }) => string = compileTemplate(`
<div class="card"><% if (it.isFiltered) { %><p>${INCIDENTS.noMatch}</p><p><a href="/app/incidents">${INCIDENTS.showAll}</a></p>
<% } else { %><h2>${INCIDENTS.none}</h2><p>${INCIDENTS.noneHint}</p><% } %></div>
`);

/** Renders the list of incidents: filter, rows with those that have lasted longest first, and the neighbouring pages. */
export function renderIncidentList(list: IncidentList): string {
  const { query, incidents, total, canWrite } = list;
  const isLess = isFiltered(query) || query.page > 1;
  const head = renderHead({ canWrite });
  if (incidents.length === 0 && !isLess) return head + renderEmpty({ isFiltered: false });
  const filter = renderFilter({ selects: selectsOf(list), isFiltered: isFiltered(query) });
  if (incidents.length === 0) return head + filter + renderEmpty({ isFiltered: true });
  const { previous, next } = neighboursOf(query, total);
  const pathOf = (page: number | null) => (page === null ? null : writeIncidentsPath({ ...query, page }));
  const end = renderEnd({ count: INCIDENTS.count(total), previous: pathOf(previous), next: pathOf(next) });
  const rows = incidents.map((one) => renderIncident(one, list));
  return `${head}${filter}<ul class="rows incidents" id="rows">${rows.join("")}</ul>${end}`;
}

/** Returns the title of the tab: how many incidents are open, before the name of the page. */
export function titleOf({ open }: Pick<Reading, "open">): string {
  return open === 0 ? INCIDENTS.title : `(${open}) ${INCIDENTS.title}`;
}

/** Returns the tone of an incident's state. */
export function toneOf({ resolved_at: end, manual }: Pick<Listed, "resolved_at" | "manual">): string {
  if (end !== null) return "good";
  return manual ? "warn" : "bad";
}

function renderIncident(incident: Listed, { viewer, isKept }: IncidentList): string {
  const { monitor, cause, acknowledged } = incident;
  const lasted = writeDuration(incident.duration_seconds);
  const row = renderRow({
    id: incident.id,
    tone: toneOf(incident),
    state: stateOf(incident),
    title: shownTitle(incident),
    cause: toLocalTimes(cause?.message ?? "", viewer.zone.name),
    monitor: monitor === null ? null : { id: isKept(monitor.id) ? monitor.id : null, name: nameOf(monitor) },
    acknowledged: acknowledged?.by ?? null,
  });
  const time = renderTime(new Date(incident.started_at), viewer);
  return row + time + renderLasted({ lasted: incident.resolved_at === null ? `${INCIDENTS.since} ${lasted}` : lasted });
}

/** Returns what the monitor of an incident was called: its name, else its target. */
export function nameOf({ id, name, url }: NonNullable<Listed["monitor"]>): string {
  return name || (url ?? String(id));
}

function selectsOf({ query, monitors }: IncidentList): readonly Select[] {
  const optionsOf = (words: Readonly<Record<string, string>>, values: readonly string[], chosen: string) =>
    values.map((value) => ({ value, label: words[value] ?? value, isSelected: value === chosen }));
  const chosen = query.monitorId === null ? "" : String(query.monitorId);
  return [
    { name: "state", label: INCIDENTS.state, options: optionsOf(INCIDENTS.states, STATES, query.state) },
    { name: "kind", label: INCIDENTS.kind, options: optionsOf(INCIDENTS.kinds, KINDS, query.kind) },
    ...(monitors.length === 0
      ? []
      : [
          {
            name: "monitor",
            label: INCIDENTS.monitor,
            options: [
              { value: "", label: INCIDENTS.any, isSelected: chosen === "" },
              ...monitors.map(({ id, name }) => ({
                value: String(id),
                label: name,
                isSelected: String(id) === chosen,
              })),
            ],
          },
        ]),
  ];
}
