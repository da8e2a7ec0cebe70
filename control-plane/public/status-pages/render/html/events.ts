import { writeDuration } from "#shared/text/duration.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type {
  PageView,
  ShownArchive,
  ShownIncident,
  ShownMaintenance,
} from "#control-plane/public/status-pages/page.ts";
import { IMPACT_COLOURS } from "#control-plane/public/status-pages/render/html/marks.ts";
import { namesOf } from "#control-plane/public/status-pages/render/monitor-names.ts";
import {
  dayOf,
  formatDay,
  formatMonth,
  formatTime,
  IMPACT_WORDS,
  INCIDENT_WORDS,
  MAINTENANCE_WORDS,
} from "#control-plane/public/status-pages/render/words.ts";

/** An incident or a maintenance window as the page shows it. */
export interface ShownEvent {
  /** Id of the element, to which feeds link. */
  readonly anchor: string;
  readonly title: string;
  /** Path of its own page; null: it has none. */
  readonly href: string | null;
  readonly state: string;
  /** Classes of its box. */
  readonly box: string;
  readonly from: Moment;
  readonly to: Moment | null;
  /** Length and impact. */
  readonly facts: string;
  /** Whether it is an outage of one monitor, whose name is in the title: it has one line. */
  readonly isOutage: boolean;
  /** Names of monitors, and locations from which it was noticed. Each is isolated: it can have any direction of text. */
  readonly affects: readonly string[];
  readonly regions: readonly string[];
  readonly cause: string | null;
  /** Whether it has more updates than those, on its own page. */
  readonly hasMore: boolean;
  readonly updates: readonly { readonly word: string; readonly at: Moment; readonly text: string }[];
}

/** A time, for programs and for people. */
interface Moment {
  readonly iso: string;
  readonly words: string;
}

/** A heading and the events below it; `days`: each day has a heading of its own. */
interface EventList {
  readonly heading: string;
  /** Id of the heading; null: none. */
  readonly id: string | null;
  readonly days: readonly { readonly day: string | null; readonly events: readonly ShownEvent[] }[];
  /** A sentence below the heading; null: none. */
  readonly note: string | null;
}

// Events below the heading of a day have headings of level 4, others of level 3.
const renderList: (list: EventList) => string = compileTemplate(`
<section><h2<% if (it.id !== null) { %> id="<%= it.id %>"<% } %>><%= it.heading %></h2><% if (it.note !== null) { %><p class="w"><%= it.note %></p><% } %>
<% for (const group of it.days) { %>
<% if (group.day !== null) { %><h3 class="y"><%= group.day %></h3><% } %>
<ul class="c"><% for (const event of group.events) { %>
<li class="<%= event.box %>" id="<%= event.anchor %>">
<% if (group.day !== null) { %><h4<% if (!event.isOutage) { %> dir="auto"<% } %>><% if (event.href !== null) { %><a href="<%= event.href %>"><%= event.title %></a><% } else { %><%= event.title %><% } %></h4><% } else { %><h3<% if (!event.isOutage) { %> dir="auto"<% } %>><% if (event.href !== null) { %><a href="<%= event.href %>"><%= event.title %></a><% } else { %><%= event.title %><% } %></h3><% } %>
<% if (event.isOutage) { %><p class="f"><% if (event.to === null) { %><b><%= event.state %></b> &middot; <% } %><%= event.facts %> &middot; <% } else { %><p><b><%= event.state %></b> &middot; <%= event.facts %></p>
<p class="f"><% } %><% if (event.to === null) { %>Since <% } %><time datetime="<%= event.from.iso %>"><%= event.from.words %></time><% if (event.to !== null) { %> to <time datetime="<%= event.to.iso %>"><%= event.to.words %></time><% } %><% if (event.isOutage && event.cause !== null) { %> &middot; <bdi><%= event.cause %></bdi><% } %></p>
<% if (!event.isOutage && event.affects.length > 0) { %><p class="f">Affects <% event.affects.forEach((name, index) => { if (index > 0) { %>, <% } %><bdi><%= name %></bdi><% }) %></p><% } %>
<% if (event.regions.length > 0) { %><p class="f">Noticed from <% event.regions.forEach((name, index) => { if (index > 0) { %>, <% } %><bdi><%= name %></bdi><% }) %></p><% } %>
<% if (!event.isOutage && event.cause !== null) { %><p class="f" dir="auto"><%= event.cause %></p><% } %>
<% if (event.updates.length > 0) { %><ol class="u"><% for (const update of event.updates) { %>
<li><p class="f"><b><%= update.word %></b> &middot; <time datetime="<%= update.at.iso %>"><%= update.at.words %></time></p><p dir="auto"><%= update.text %></p></li>
<% } %></ol><% } %><% if (event.hasMore && event.href !== null) { %><p class="f"><a href="<%= event.href %>">All updates</a></p><% } %></li>
<% } %></ul><% } %></section>
`);

/** Id of the heading of the open incidents. */
export const OPEN_ID = "open";

/** Renders the open incidents: what people write comes before what monitors report. "" if there are none. */
export function renderIncidents(view: PageView, base: string): string {
  const open = view.incidents
    .filter(isOpen)
    .toSorted((a, b) => Number(a.isOutage) - Number(b.isOutage))
    .map((incident) => listIncident(view, incident, base));
  return renderPlain("Open incidents", open, OPEN_ID);
}

/** Renders the maintenance in progress, or that to come. "" if there is none. */
export function renderMaintenance(view: PageView, status: "in_progress" | "scheduled"): string {
  const windows = view.maintenance.filter((window) => window.status === status);
  const heading = status === "scheduled" ? "Scheduled maintenance" : "Maintenance in progress";
  return renderPlain(
    heading,
    windows.map((window) => describeMaintenance(view, window)),
  );
}

/** Renders the past 14 days by day, the newest first. */
export function renderPast(view: PageView, base: string): string {
  const days = byDay(
    view,
    view.incidents.filter((incident) => !isOpen(incident)),
    view.maintenance.filter(({ status }) => status === "completed"),
    base,
  );
  const other = view.incidents.some(isOpen) ? "other " : "";
  const note = days.length === 0 ? `No ${other}incident and no maintenance.` : null;
  return renderList({ heading: "Past 14 days", id: null, days, note });
}

/** Renders a month of the archive by day, the newest first. Of each incident the newest update is shown, cut. */
export function renderMonth(view: PageView, archive: ShownArchive, base: string): string {
  const incidents = archive.incidents.map((incident) => ({
    ...incident,
    updates: incident.updates
      .slice(0, 1)
      .map((update) => ({ ...update, text: toPlainLine(update.text, MOST_OF_UPDATE) })),
  }));
  const days = byDay(view, incidents, archive.maintenance, base);
  const nothing = days.length === 0 ? "No incident and no maintenance." : null;
  const note = archive.isCut ? "There were too many to show: older ones of this month are left out." : nothing;
  return renderList({ heading: formatMonth(archive.month.name), id: null, days, note });
}

/** Maximum number of characters of an update in the archive; the incident has a page with all of it. */
const MOST_OF_UPDATE = 300;

function byDay(
  view: PageView,
  incidents: readonly ShownIncident[],
  windows: readonly ShownMaintenance[],
  base: string,
): EventList["days"] {
  const past = [
    ...incidents.map((incident) => {
      const event = listIncident(view, incident, base);
      // The day of a line stands above it.
      const from = event.isOutage ? { ...event.from, words: withoutDay(event.from.words) } : event.from;
      return { at: incident.startedAt, event: { ...event, from } };
    }),
    ...windows.map((window) => ({ at: window.startsAt, event: describeMaintenance(view, window) })),
  ].toSorted((a, b) => b.at.getTime() - a.at.getTime());
  return Array.from(
    Map.groupBy(past, ({ at }) => dayOf(at)),
    ([day, rows]) => ({ day: formatDay(day), events: rows.map(({ event }) => event) }),
  );
}

function isOpen({ resolvedAt }: ShownIncident): boolean {
  return resolvedAt === null;
}

function renderPlain(heading: string, events: readonly ShownEvent[], id: string | null = null): string {
  return events.length === 0 ? "" : renderList({ heading, id, days: [{ day: null, events }], note: null });
}

/** Number of updates of an incident in a list; its own page has all. */
const LISTED_UPDATES = 5;

function listIncident(view: PageView, incident: ShownIncident, base: string): ShownEvent {
  const event = describeIncident(view, incident, base);
  const hasMore = event.updates.length > LISTED_UPDATES;
  return { ...event, hasMore, updates: event.updates.slice(0, LISTED_UPDATES) };
}

/** Describes an incident with all of its updates. `base`: path of the page, without a slash at its end. */
export function describeIncident(view: PageView, incident: ShownIncident, base: string): ShownEvent {
  const { id, title, isOutage, status, impact, startedAt, resolvedAt, durationSeconds, monitorIds } = incident;
  const lasted = joined(isOpen(incident) ? formatSoFar(durationSeconds) : writeDuration(durationSeconds));
  return {
    anchor: `incident-${id}`,
    title,
    href: `${base}/incidents/${id}`,
    isOutage,
    state: INCIDENT_WORDS[status],
    box: `e${isOutage ? " a" : ""}${isOpen(incident) ? ` z ${IMPACT_COLOURS[impact]}` : ""}`,
    from: momentOf(startedAt),
    to: resolvedAt === null ? null : endOf(startedAt, resolvedAt),
    // Each outage has the same impact unless somebody changes it.
    facts: isOutage ? lasted : `${IMPACT_WORDS[impact]}, ${lasted}`,
    affects: namesOf(view, monitorIds),
    regions: incident.regions,
    cause: incident.cause,
    hasMore: false,
    updates: incident.updates.map(({ status: word, at, text }) => ({
      word: INCIDENT_WORDS[word],
      at: momentOf(at),
      text,
    })),
  };
}

function describeMaintenance(view: PageView, window: ShownMaintenance): ShownEvent {
  const { id, title, status, startsAt, endsAt, monitorIds } = window;
  return {
    anchor: `maintenance-${id}`,
    title,
    href: null,
    isOutage: false,
    state: MAINTENANCE_WORDS[status],
    box: status === "in_progress" ? "e z mt" : "e",
    from: momentOf(startsAt),
    to: endOf(startsAt, endsAt),
    facts: joined(writeDuration((endsAt.getTime() - startsAt.getTime()) / 1_000)),
    affects: namesOf(view, monitorIds),
    regions: [],
    cause: null,
    hasMore: false,
    updates: [],
  };
}

function momentOf(time: Date): Moment {
  return { iso: time.toISOString(), words: formatTime(time) };
}

/** Formats how long an open incident has lasted, to the minute: otherwise the page would change every second. */
function formatSoFar(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? "less than 1 min so far" : `${writeDuration(minutes * 60)} so far`;
}

/** Joins words that must not be on two lines. */
function joined(words: string): string {
  return words.replaceAll(" ", "\u00A0");
}

/** Returns the end of a period; on the day of its start the words have no date. */
function endOf(start: Date, end: Date): Moment {
  const words = formatTime(end);
  return { iso: end.toISOString(), words: dayOf(start) === dayOf(end) ? withoutDay(words) : words };
}

function withoutDay(words: string): string {
  return words.slice(words.indexOf(", ") + 2);
}
