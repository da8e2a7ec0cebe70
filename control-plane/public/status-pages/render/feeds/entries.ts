import { writeDuration } from "#shared/text/duration.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type {
  PageView,
  ShownIncident,
  ShownMaintenance,
  ShownUpdate,
} from "#control-plane/public/status-pages/page.ts";
import { changesOfIncident, changesOfMaintenance } from "#control-plane/public/status-pages/render/changes.ts";
import { namesOf } from "#control-plane/public/status-pages/render/monitor-names.ts";
import {
  formatTime,
  IMPACT_LABELS,
  INCIDENT_LABELS,
  MAINTENANCE_LABELS,
} from "#control-plane/public/status-pages/render/labels.ts";

/** An entry of a feed: an incident or one occurrence of a maintenance window. */
interface FeedEntry {
  /** Stays the same while title, state and updates change, and if the page moves to another domain. */
  readonly id: string;
  /** Page of an incident; place of maintenance on the status page. */
  readonly url: string;
  readonly title: string;
  readonly category: "incident" | "maintenance";
  readonly html: Html;
  readonly publishedAt: Date;
  readonly updatedAt: Date;
}

/** Maximum number of entries of a feed. */
const MOST_ENTRIES = 40;

const DAY_MS = 86_400_000;
const BREAK = html`<br>`;

/** Returns the entries of a page's feeds, the last changed first. `serviceUrl`: address of this service. */
export function listEntries(view: PageView, serviceUrl: string): readonly FeedEntry[] {
  const incidents = view.incidents.map((incident) => describeIncident(view, incident, serviceUrl));
  const windows = view.maintenance.map((window) => describeMaintenance(view, window, serviceUrl));
  return [...incidents, ...windows]
    .toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_ENTRIES);
}

/** Returns when a feed last changed; without entries the start of the view's day, so that the feed does not change. */
export function lastChange({ generatedAt }: PageView, entries: readonly FeedEntry[]): Date {
  return entries[0]?.updatedAt ?? new Date(Math.floor(generatedAt.getTime() / DAY_MS) * DAY_MS);
}

function describeIncident(view: PageView, incident: ShownIncident, serviceUrl: string): FeedEntry {
  const { id, title, status, impact, startedAt, resolvedAt, durationSeconds, regions, cause, updates } = incident;
  const { first, last } = changesOfIncident(incident);
  const facts = [
    `${INCIDENT_LABELS[status]}. ${IMPACT_LABELS[impact]}.`,
    resolvedAt === null
      ? `Since ${formatTime(startedAt)}.`
      : `From ${formatTime(startedAt)} to ${formatTime(resolvedAt)}, ${writeDuration(durationSeconds)}.`,
    ...affects(view, incident.monitorIds),
    ...(regions.length === 0 ? [] : [`Noticed from ${regions.join(", ")}.`]),
    ...(cause === null ? [] : [cause]),
  ];
  return {
    id: `${serviceUrl}/status/${view.slug}#incident-${id}`,
    url: `${view.url}/incidents/${id}`,
    title,
    category: "incident",
    html: html`${renderLines(facts)}${updates.map(renderUpdate)}`,
    publishedAt: first,
    updatedAt: last,
  };
}

function describeMaintenance(view: PageView, window: ShownMaintenance, serviceUrl: string): FeedEntry {
  const { id, title, status, startsAt, endsAt, monitorIds } = window;
  const { first, last } = changesOfMaintenance(window);
  const facts = [
    `${MAINTENANCE_LABELS[status]}.`,
    `From ${formatTime(startsAt)} to ${formatTime(endsAt)}.`,
    `Announced ${formatTime(first)}.`,
    ...affects(view, monitorIds),
  ];
  return {
    // A repeated window has an entry for each occurrence.
    id: `${serviceUrl}/status/${view.slug}#maintenance-${id}-${startsAt.getTime() / 1_000}`,
    url: `${view.url}#maintenance-${id}`,
    title,
    category: "maintenance",
    html: renderLines(facts),
    publishedAt: first,
    updatedAt: last,
  };
}

function renderUpdate({ status, at, text }: ShownUpdate): Html {
  return renderLines([html`<strong>${INCIDENT_LABELS[status]}, ${formatTime(at)}</strong>`, ...text.split("\n")]);
}

/** Renders lines as a paragraph. */
function renderLines(lines: readonly (string | Html)[]): Html {
  return html`<p>${lines.map((line, index) => html`${index > 0 && BREAK}${line}`)}</p>${"\n"}`;
}

function affects(view: PageView, monitorIds: readonly number[]): readonly string[] {
  const names = namesOf(view, monitorIds);
  return names.length === 0 ? [] : [`Affects ${names.join(", ")}.`];
}
