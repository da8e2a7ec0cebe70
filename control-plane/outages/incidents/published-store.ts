import type { Queryable, SqlFragment } from "#control-plane/core/database/connect.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";
import { columns, readRow, type IncidentRow } from "#control-plane/outages/incidents/store.ts";

/** Which outages are incidents of a status page. */
export interface OutageRule {
  readonly auto_incidents: boolean;
  /** Minutes from the confirmation of an outage until it is one. */
  readonly auto_incidents_after_minutes: number;
}

/** The incidents of a status page. */
export interface PageScope extends OutageRule {
  readonly accountId: number;
  readonly pageId: number;
  readonly monitorIds: readonly number[];
}

/** Finds the incidents of a page that have not ended before `since`: open ones first, then the newest. */
export async function findPublished(
  sql: Queryable,
  scope: PageScope,
  { since, now, limit }: { readonly since: Date; readonly now: Date; readonly limit: number },
): Promise<readonly Incident[]> {
  const rows = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents
    where coalesce(resolved_at, 'infinity') >= ${since} and ${isOfPage(sql, scope, now)}
    order by resolved_at is null desc, started_at desc, id desc limit ${limit}`;
  return rows.map(readRow);
}

/** Finds an incident of a page by its id, however long ago it ended; null if the page has none. */
export async function findPublishedById(
  sql: Queryable,
  scope: PageScope,
  id: number,
  now: Date,
): Promise<Incident | null> {
  const rows = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents where id = ${id} and ${isOfPage(sql, scope, now)}`;
  return rows.map(readRow)[0] ?? null;
}

/** Finds the incidents of a page that began in [from, to), the newest first. */
export async function findPublishedBetween(
  sql: Queryable,
  scope: PageScope,
  { from, to, now, limit }: { readonly from: Date; readonly to: Date; readonly now: Date; readonly limit: number },
): Promise<readonly Incident[]> {
  const rows = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents
    where started_at >= ${from} and started_at < ${to} and ${isOfPage(sql, scope, now)}
    order by started_at desc, id desc limit ${limit}`;
  return rows.map(readRow);
}

/** An incident that a page shows: of the page itself, or of one of its monitors. */
function isOfPage(sql: Queryable, scope: PageScope, now: Date): SqlFragment {
  const { accountId, pageId, monitorIds } = scope;
  return sql`(account_id = ${accountId} and ${isPublished(sql, scope, sql`${now}::timestamptz`)}
    and (monitor_ids && ${[...monitorIds]}::bigint[] or ${pageId} = any(page_ids)))`;
}

/** Returns which of these incidents a page shows. */
export async function readPublishedIds(
  sql: Queryable,
  ids: readonly number[],
  rule: OutageRule,
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    select id from incidents where id = any(${[...ids]}::bigint[]) and ${isPublished(sql, rule, sql`timestamptz 'infinity'`)}`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * A public incident that a person opened or wrote to visitors about; an outage also if it has lasted for the minutes of
 * the page since its confirmation. `now`: until when one lasts that goes on; infinity: its minutes will be over.
 */
function isPublished(
  sql: Queryable,
  { auto_incidents: autoIncidents, auto_incidents_after_minutes: minutes }: OutageRule,
  now: SqlFragment,
): SqlFragment {
  return sql`(is_public and (
    monitor_id is null
    or (${autoIncidents} and coalesce(resolved_at, ${now})
      >= confirmed_at + ${minutes}::integer * interval '1 minute')
    or exists (select from incident_entries as e where e.incident_id = incidents.id and e.kind = 'update' and e.is_public)
  ))`;
}
