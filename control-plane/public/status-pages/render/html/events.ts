import { writeDuration } from "#shared/text/duration.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type {
  PageView,
  ShownArchive,
  ShownIncident,
  ShownMaintenance,
  ShownUpdate,
} from "#control-plane/public/status-pages/page.ts";
import { IMPACT_COLOURS } from "#control-plane/public/status-pages/render/html/marks.ts";
import { namesOf } from "#control-plane/public/status-pages/render/monitor-names.ts";
import {
  dayOf,
  formatDay,
  formatMonth,
  formatTime,
  IMPACT_LABELS,
  INCIDENT_LABELS,
  MAINTENANCE_LABELS,
} from "#control-plane/public/status-pages/render/labels.ts";

/** Id of the heading of the open incidents. */
export const OPEN_ID = "open";

/** Renders the open incidents: what people write comes before what monitors report. null if there are none. */
export function renderIncidents(view: PageView, base: string): Html | null {
  const open = view.incidents.filter(isOpen).toSorted((a, b) => Number(a.isOutage) - Number(b.isOutage));
  if (open.length === 0) return null;
  const items = open.map((incident) => renderIncident(view, incident, base, "h3"));
  return html`<section><h2 id="${OPEN_ID}">Open incidents</h2><ul class="c">${items}</ul></section>`;
}

/** Renders the maintenance in progress, or that to come. null if there is none. */
export function renderMaintenance(view: PageView, status: "in_progress" | "scheduled"): Html | null {
  const windows = view.maintenance.filter((window) => window.status === status);
  if (windows.length === 0) return null;
  const heading = status === "scheduled" ? "Scheduled maintenance" : "Maintenance in progress";
  const items = windows.map((window) => renderWindow(view, window, "h3"));
  return html`<section><h2>${heading}</h2><ul class="c">${items}</ul></section>`;
}

/** Renders the past 14 days by day, the newest first. */
export function renderPast(view: PageView, base: string): Html {
  const days = renderDays(
    view,
    view.incidents.filter((incident) => !isOpen(incident)),
    view.maintenance.filter(({ status }) => status === "completed"),
    base,
  );
  const other = view.incidents.some(isOpen) && "other ";
  return html`
    <section><h2>Past 14 days</h2>
    ${days.length === 0 && html`<p class="w">No ${other}incident and no maintenance.</p>`}
    ${days}</section>`;
}

/** Renders a month of the archive by day, the newest first. Of each incident the newest update is shown, cut. */
export function renderMonth(
  view: PageView,
  { month, incidents, maintenance, isCut }: ShownArchive,
  base: string,
): Html {
  const cut = incidents.map((incident) => ({
    ...incident,
    updates: incident.updates
      .slice(0, 1)
      .map((update) => ({ ...update, text: toPlainLine(update.text, MOST_OF_UPDATE) })),
  }));
  const days = renderDays(view, cut, maintenance, base);
  const nothing = days.length === 0 && html`<p class="w">No incident and no maintenance.</p>`;
  return html`
    <section><h2>${formatMonth(month.name)}</h2>
    ${isCut ? html`<p class="w">There were too many to show: older ones of this month are left out.</p>` : nothing}
    ${days}</section>`;
}

/** Maximum number of characters of an update in the archive; the incident has a page with all of it. */
const MOST_OF_UPDATE = 300;

/** Renders what began on each day, below the name of the day. */
function renderDays(
  view: PageView,
  incidents: readonly ShownIncident[],
  windows: readonly ShownMaintenance[],
  base: string,
): readonly Html[] {
  const past = [
    ...incidents.map((incident) => ({ at: incident.startedAt, item: renderIncident(view, incident, base, "h4") })),
    ...windows.map((window) => ({ at: window.startsAt, item: renderWindow(view, window, "h4") })),
  ].toSorted((a, b) => b.at.getTime() - a.at.getTime());
  return Array.from(
    Map.groupBy(past, ({ at }) => dayOf(at)),
    ([day, rows]) => html`<h3 class="y">${formatDay(day)}</h3><ul class="c">${rows.map(({ item }) => item)}</ul>`,
  );
}

function isOpen({ resolvedAt }: ShownIncident): boolean {
  return resolvedAt === null;
}

/** Level of the heading of an event: h4 below that of a day. */
type Level = "h3" | "h4";

/** Number of updates of an incident in a list; its own page has all. */
const LISTED_UPDATES = 5;

/** Renders an incident in a list. An outage of one monitor, whose name is in the title, has one line. */
function renderIncident(view: PageView, incident: ShownIncident, base: string, level: Level): Html {
  const { id, title, isOutage, regions, updates } = incident;
  // Feeds link to the ids.
  return html`
    <li class="e${isOutage && " a"}${colourOf(incident)}" id="incident-${id}">
    <${level}${!isOutage && html` dir="auto"`}><a href="${base}/incidents/${id}">${title}</a></${level}>
    ${isOutage ? html`${renderOutage(incident, level)}${renderNames("Noticed from", regions)}` : renderFacts(view, incident)}
    ${updates.length > 0 && html`<ol class="u">${updates.slice(0, LISTED_UPDATES).map(renderUpdate)}</ol>`}
    ${updates.length > LISTED_UPDATES && html`<p class="f"><a href="${base}/incidents/${id}">All updates</a></p>`}</li>`;
}

function renderOutage(incident: ShownIncident, level: Level): Html {
  const { status, startedAt, resolvedAt, cause } = incident;
  const state = resolvedAt === null && html`<b>${INCIDENT_LABELS[status]}</b> &middot; `;
  const period = renderPeriod(startedAt, resolvedAt, level === "h4");
  const reason = cause !== null && html` &middot; <bdi>${cause}</bdi>`;
  return html`<p class="f">${state}${lengthOf(incident)} &middot; ${period}${reason}</p>`;
}

function renderUpdate(update: ShownUpdate): Html {
  return html`<li>${renderUpdateHead(update)}<p dir="auto">${update.text}</p></li>`;
}

/** Renders the state of an incident at an update, and its time. */
export function renderUpdateHead({ status, at }: ShownUpdate): Html {
  return html`<p class="f"><b>${INCIDENT_LABELS[status]}</b> &middot; ${renderTime(at)}</p>`;
}

/** Returns the classes of an incident that give its box the colour of its impact while it is open. */
export function colourOf({ impact, resolvedAt }: ShownIncident): string {
  return resolvedAt === null ? ` z ${IMPACT_COLOURS[impact]}` : "";
}

/** Renders state, length, period, services and cause of an incident. */
export function renderFacts(view: PageView, incident: ShownIncident): Html {
  const { isOutage, status, impact, startedAt, resolvedAt, monitorIds, regions, cause } = incident;
  // Each outage has the same impact unless somebody changes it.
  const weight = !isOutage && `${IMPACT_LABELS[impact]}, `;
  return html`
    <p><b>${INCIDENT_LABELS[status]}</b> &middot; ${weight}${lengthOf(incident)}</p>
    <p class="f">${renderPeriod(startedAt, resolvedAt)}</p>
    ${renderNames("Affects", namesOf(view, monitorIds))}
    ${renderNames("Noticed from", regions)}
    ${cause !== null && html`<p class="f" dir="auto">${cause}</p>`}`;
}

function renderWindow(view: PageView, window: ShownMaintenance, level: Level): Html {
  const { id, title, status, startsAt, endsAt, monitorIds } = window;
  const length = joined(writeDuration((endsAt.getTime() - startsAt.getTime()) / 1_000));
  return html`
    <li class="e${status === "in_progress" && " z mt"}" id="maintenance-${id}">
    <${level} dir="auto">${title}</${level}>
    <p><b>${MAINTENANCE_LABELS[status]}</b> &middot; ${length}</p>
    <p class="f">${renderPeriod(startsAt, endsAt)}</p>
    ${renderNames("Affects", namesOf(view, monitorIds))}</li>`;
}

/** Renders names, each isolated: it can have any direction of text. null if there are none. */
function renderNames(label: string, names: readonly string[]): Html | null {
  if (names.length === 0) return null;
  return html`<p class="f">${label} ${names.map((name, index) => html`${index > 0 && ", "}<bdi>${name}</bdi>`)}</p>`;
}

/** Renders a period. On the day of its start its end has no date; nor has its start if the day stands above it. */
function renderPeriod(start: Date, end: Date | null, isInDay = false): Html {
  const from = renderTime(start, !isInDay);
  return end === null ? html`Since ${from}` : html`${from} to ${renderTime(end, dayOf(start) !== dayOf(end))}`;
}

/** Renders a time, for programs and for people. */
function renderTime(time: Date, hasDay = true): Html {
  const words = formatTime(time);
  const shown = hasDay ? words : words.slice(words.indexOf(", ") + 2);
  return html`<time datetime="${time.toISOString()}">${shown}</time>`;
}

/** Writes how long an incident has lasted; while it is open to the minute: otherwise the page would change every second. */
function lengthOf({ resolvedAt, durationSeconds }: ShownIncident): string {
  if (resolvedAt !== null) return joined(writeDuration(durationSeconds));
  const minutes = Math.floor(durationSeconds / 60);
  return joined(minutes === 0 ? "less than 1 min so far" : `${writeDuration(minutes * 60)} so far`);
}

/** Joins words that must not be on two lines. */
function joined(words: string): string {
  return words.replaceAll(" ", "\u00A0");
}
