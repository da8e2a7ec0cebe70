import type { Queryable } from "#control-plane/database/connect.ts";
import type { Incident } from "#control-plane/incidents/incident.ts";
import { columns, readRow, type IncidentRow } from "#control-plane/incidents/store.ts";

/** The incidents of a status page. */
export interface PageScope {
  readonly accountId: number;
  readonly pageId: number;
  readonly monitorIds: readonly number[];
}

/** Finds the public incidents of a page that have not ended before `since`: open ones first, then the newest. */
export async function findPublished(
  sql: Queryable,
  { accountId, pageId, monitorIds }: PageScope,
  since: Date,
  limit: number,
): Promise<readonly Incident[]> {
  const rows = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents
    where account_id = ${accountId} and coalesce(resolved_at, 'infinity') >= ${since} and is_public
      and (monitor_ids && ${[...monitorIds]}::bigint[] or ${pageId} = any(page_ids))
    order by resolved_at is null desc, started_at desc, id desc limit ${limit}`;
  return rows.map(readRow);
}

/** Returns which of these incidents are public. */
export async function readPublicIds(sql: Queryable, ids: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    select id from incidents where id = any(${[...ids]}::bigint[]) and is_public`;
  return new Set(rows.map(({ id }) => id));
}
