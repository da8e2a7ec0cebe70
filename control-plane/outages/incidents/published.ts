import type { Queryable } from "#control-plane/core/database/connect.ts";
import { durationSeconds } from "#control-plane/outages/incidents/duration.ts";
import { readUpdates } from "#control-plane/outages/incidents/entries-store.ts";
import type { Cause, Impact, Incident, Status } from "#control-plane/outages/incidents/incident.ts";
import {
  findPublished,
  findPublishedBetween,
  findPublishedById,
  readPublishedIds,
  type OutageRule,
  type PageScope,
} from "#control-plane/outages/incidents/published-store.ts";

/** A message to visitors. */
interface PublishedUpdate {
  readonly id: number;
  readonly at: Date;
  readonly status: Status;
  readonly text: string;
}

/** An incident of a status page. The cause and the locations are for the account alone, unless the page shows causes. */
export interface PublishedIncident {
  readonly id: number;
  readonly title: string;
  readonly status: Status;
  readonly impact: Impact;
  readonly startedAt: Date;
  readonly resolvedAt: Date | null;
  readonly durationSeconds: number;
  readonly monitorIds: readonly number[];
  /** Monitor whose outage it is, with its name at that time; null: a person opened it. */
  readonly monitor: { readonly id: number; readonly name: string } | null;
  readonly regions: readonly string[];
  readonly cause: Cause | null;
  /** Newest first. */
  readonly updates: readonly PublishedUpdate[];
}

/** How long an incident is shown after its end, in milliseconds: 14 days. */
const SHOWN_MS = 14 * 86_400_000;
const MOST_INCIDENTS = 20;
const MOST_UPDATES = 20;
const MOST_UPDATES_ALONE = 100;

/**
 * Returns the incidents of a status page, newest first: the newest of those that are open, then of those that
 * ended within 14 days, at most 20 together.
 */
export async function publishedIncidents(
  sql: Queryable,
  scope: PageScope,
  now: Date,
): Promise<readonly PublishedIncident[]> {
  const since = new Date(now.getTime() - SHOWN_MS);
  const shown = await findPublished(sql, scope, { since, now, limit: MOST_INCIDENTS });
  const published = await publishAll(sql, shown, now, MOST_UPDATES);
  return published.toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime() || b.id - a.id);
}

/** Returns an incident of a status page with its newest 100 updates, however long ago it ended; null if it has none. */
export async function publishedIncident(
  sql: Queryable,
  scope: PageScope,
  id: number,
  now: Date,
): Promise<PublishedIncident | null> {
  const found = await findPublishedById(sql, scope, id, now);
  return (await publishAll(sql, found === null ? [] : [found], now, MOST_UPDATES_ALONE))[0] ?? null;
}

/** Returns the incidents of a status page that began in [from, to), newest first, each with its newest update. */
export async function publishedBetween(
  sql: Queryable,
  scope: PageScope,
  { from, to, now, limit }: { readonly from: Date; readonly to: Date; readonly now: Date; readonly limit: number },
): Promise<readonly PublishedIncident[]> {
  return publishAll(sql, await findPublishedBetween(sql, scope, { from, to, now, limit }), now, 1);
}

async function publishAll(
  sql: Queryable,
  incidents: readonly Incident[],
  now: Date,
  mostUpdates: number,
): Promise<readonly PublishedIncident[]> {
  if (incidents.length === 0) return [];
  const ids = incidents.map(({ id }) => id);
  const updates = await readUpdates(sql, ids, { limit: mostUpdates, publicOnly: true });
  const byIncident = Map.groupBy(updates, ({ incidentId }) => incidentId);
  return incidents.map((incident) => publish(incident, byIncident.get(incident.id) ?? [], now));
}

function publish(
  incident: Incident,
  updates: readonly { readonly id: number; readonly at: Date; readonly status: Status | null; readonly text: string }[],
  now: Date,
): PublishedIncident {
  const { id, title, status, impact, startedAt, resolvedAt, monitorIds, monitor } = incident;
  return {
    id,
    title,
    status,
    impact,
    startedAt,
    resolvedAt,
    durationSeconds: durationSeconds(incident, now),
    monitorIds,
    monitor: monitor === null ? null : { id: monitor.id, name: monitor.name },
    regions: incident.locations.map(({ location }) => location),
    cause: incident.cause,
    updates: updates.map((update) => ({
      id: update.id,
      at: update.at,
      status: update.status ?? "investigating",
      text: update.text,
    })),
  };
}

/**
 * Returns which of these incidents a page does not show: deleted ones among them, not outages that it will show if they
 * go on.
 */
export async function hiddenIncidents(
  sql: Queryable,
  ids: readonly number[],
  rule: OutageRule,
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const shown = await readPublishedIds(sql, ids, rule);
  return new Set(ids.filter((id) => !shown.has(id)));
}
