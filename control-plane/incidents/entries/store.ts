import type { Queryable } from "#control-plane/database/connect.ts";
import type { Entry, NewEntry } from "#control-plane/incidents/entries/entry.ts";

/** A stored update with the incident that it belongs to. */
interface StoredUpdate extends Entry {
  readonly incidentId: number;
}

/**
 * Inserts entries of one incident, in the given order, and counts them. An incident with `most` entries or more gets
 * no further one. Returns false if nothing was inserted.
 */
export async function insertEntries(
  sql: Queryable,
  incidentId: number,
  entries: readonly NewEntry[],
  most: number | null,
): Promise<boolean> {
  const { count } = await sql`
    with counted as (
      update incidents set entry_count = entry_count + ${entries.length}
      where id = ${incidentId} and (${most}::integer is null or entry_count < ${most})
      returning id
    )
    insert into incident_entries (incident_id, occurred_at, kind, author, text, status, is_public)
    select counted.id, given.occurred_at::timestamptz, given.kind, given.author, given.text, given.status,
      given.is_public = 1
    from counted cross join unnest(
      ${entries.map(({ at }) => at.toISOString())}::text[],
      ${entries.map(({ kind }) => kind)}::text[],
      ${entries.map(({ by }) => by)}::text[],
      ${entries.map(({ text }) => text)}::text[],
      ${entries.map(({ status }) => status)}::text[],
      ${entries.map(({ isPublic }) => (isPublic ? 1 : 0))}::integer[]
    ) with ordinality as given (occurred_at, kind, author, text, status, is_public, ordinal)
    order by given.ordinal`;
  return count > 0;
}

/** Returns the newest entries of an incident, newest first. */
export async function readEntries(sql: Queryable, incidentId: number, limit: number): Promise<readonly Entry[]> {
  return sql<Entry[]>`
    select ${columns(sql)} from incident_entries where incident_id = ${incidentId} order by id desc limit ${limit}`;
}

/** Returns the newest updates of each of these incidents, newest first. */
export async function readUpdates(
  sql: Queryable,
  incidentIds: readonly number[],
  { limit, publicOnly }: { readonly limit: number; readonly publicOnly: boolean },
): Promise<readonly StoredUpdate[]> {
  return sql<StoredUpdate[]>`
    select given.id as "incidentId", entries.*
    from unnest(${[...incidentIds]}::bigint[]) as given (id) cross join lateral (
      select ${columns(sql)} from incident_entries
      where incident_id = given.id and kind = 'update' and (is_public or not ${publicOnly})
      order by id desc limit ${limit}
    ) as entries
    order by entries.id desc`;
}

function columns(sql: Queryable) {
  return sql`id, occurred_at as at, kind, author as by, text, status, is_public as "isPublic"`;
}
