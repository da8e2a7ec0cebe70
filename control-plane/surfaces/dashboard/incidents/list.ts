import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { renderTime, toLocalTimes } from "#control-plane/surfaces/dashboard/layout/times.ts";
import {
  isFiltered,
  neighboursOf,
  writeIncidentsPath,
  type IncidentQuery,
} from "#control-plane/surfaces/dashboard/incidents/list-query.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { stateOf } from "#control-plane/public/incident-pages/show-incident.ts";
import type { readOpenFirst } from "#control-plane/outages/incidents/incidents.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

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

const STATES: Readonly<Record<IncidentQuery["state"], string>> = { all: "All", open: "Open", resolved: "Resolved" };
const KINDS: Readonly<Record<IncidentQuery["kind"], string>> = {
  all: "All",
  automatic: "A monitor",
  manual: "A person",
};

/** Renders the list of incidents: filter, rows with those that have lasted longest first, and the neighbouring pages. */
export function renderIncidentList(list: IncidentList): Html {
  const { query, incidents, canWrite } = list;
  const head = html`
    <div class="head"><h1>Incidents</h1>
    ${canWrite && html`<a class="button primary" href="/app/incidents/new">Open an incident</a>`}</div>`;
  if (incidents.length > 0)
    return html`
      ${head}${renderFilter(list)}<ul class="rows incidents" id="rows">${incidents.map((one) => renderIncident(one, list))}</ul>
      ${renderPages(list)}`;
  return isFiltered(query) || query.page > 1
    ? html`
      ${head}${renderFilter(list)}<div class="card"><p>No incident matches.</p><p><a href="/app/incidents">Show all</a></p></div>`
    : html`
      ${head}<div class="card"><h2>No incidents yet</h2>
      <p>An incident opens when a monitor goes down, and ends when it is up again. You can open one by hand.</p></div>`;
}

/** Returns the title of the tab: how many incidents are open, before the name of the page. */
export function titleOf({ open }: Pick<Reading, "open">): string {
  return open === 0 ? "Incidents" : `(${open}) Incidents`;
}

/** Returns the tone of an incident's state. */
export function toneOf({ resolved_at: end, manual }: Pick<Listed, "resolved_at" | "manual">): string {
  if (end !== null) return "good";
  return manual ? "warn" : "bad";
}

/** Returns what the monitor of an incident was called: its name, else its target. */
export function nameOf({ id, name, url }: NonNullable<Listed["monitor"]>): string {
  return name || (url ?? String(id));
}

function renderFilter({ query, monitors }: IncidentList): Html {
  const named = [["", "All"] as const, ...monitors.map(({ id, name }) => [String(id), name] as const)];
  return html`
    <form class="filter" method="get" action="/app/incidents" role="search" data-kept>
    ${renderSelect("state", "State", Object.entries(STATES), query.state)}
    ${renderSelect("kind", "Opened by", Object.entries(KINDS), query.kind)}
    ${monitors.length > 0 && renderSelect("monitor", "Monitor", named, String(query.monitorId ?? ""))}
    <div class="row"><button>Apply</button>${isFiltered(query) && html` <a href="/app/incidents">Show all</a>`}</div>
    </form>`;
}

function renderSelect(
  name: string,
  label: string,
  options: readonly (readonly [value: string, label: string])[],
  chosen: string,
): Html {
  return html`
    <div class="field"><label for="s-${name}">${label}</label><select id="s-${name}" name="${name}">
    ${options.map(([value, words]) => html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`)}
    </select></div>`;
}

function renderIncident(incident: Listed, { viewer, isKept }: IncidentList): Html {
  const { id, monitor, acknowledged } = incident;
  const cause = toLocalTimes(incident.cause?.message ?? "", viewer.zone.name);
  const isOver = incident.resolved_at !== null;
  return html`
    <li id="i-${id}"><span class="badge ${toneOf(incident)}">${stateOf(incident)}</span>
    <div class="what"><a href="/app/incidents/${id}" data-row>${shownTitle(incident)}</a>${cause !== "" && html`<p>${cause}</p>`}</div>
    <div class="strip">${renderMonitor(monitor, isKept)}${acknowledged !== null && html`<p class="faint">acknowledged by ${acknowledged.by}</p>`}</div>
    <div class="when">${renderTime(new Date(incident.started_at), viewer)}&#32;<span class="faint">${isOver ? "" : "for "}${writeDuration(incident.duration_seconds)}</span></div></li>`;
}

/** Renders the link to the monitor of an incident, which the title names, or the name of one that is deleted. */
function renderMonitor(monitor: Listed["monitor"], isKept: IncidentList["isKept"]): Html {
  if (monitor === null) return html`<span class="faint">opened by hand</span>`;
  const name = nameOf(monitor);
  return isKept(monitor.id)
    ? html`<a href="/app/monitors/${monitor.id}" aria-label="Monitor ${name}">Monitor</a>`
    : html`${name}`;
}

function renderPages({ query, total }: IncidentList): Html {
  const { previous, next } = neighboursOf(query, total);
  const linkTo = (page: number, rel: string, label: string) =>
    html`<a class="button" rel="${rel}" href="${writeIncidentsPath({ ...query, page })}">${label}</a>`;
  const links = html`
    <nav class="row" aria-label="Pages of the list">
    ${previous !== null && linkTo(previous, "prev", "Previous")}
    ${next !== null && linkTo(next, "next", "Next")}</nav>`;
  return html`
    <p class="faint">${counted(total, "incident")}</p>
    ${(previous !== null || next !== null) && links}`;
}
