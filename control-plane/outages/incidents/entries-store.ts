import type { Queryable } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { Entry, NewEntry } from "#control-plane/outages/incidents/entry.ts";

/** A stored update with the incident that it belongs to. */
interface StoredUpdate extends Entry {
  readonly incidentId: number;
}

/** An entry with the incident that it belongs to. */
export interface AddressedEntry extends NewEntry {
  readonly incidentId: number;
}

/**
 * Inserts entries of incidents, in the given order, and counts them. An incident with `most` entries or more gets no
 * further ones. Returns how many were inserted. A caller with several incidents holds the states of their monitors, so
 * that no two of them wait for each other.
 */
export async function insertEntries(
  sql: Queryable,
  entries: readonly AddressedEntry[],
  most: number | null,
): Promise<number> {
  if (entries.length === 0) return 0;
  const { count } = await sql`
    with given as (
      select * from ${given(
        sql,
        entries,
        {
          incidentId: "bigint",
          at: "timestamptz",
          kind: "text",
          by: "text",
          text: "text",
          status: "text",
          isPublic: "boolean",
        },
        { ordinality: "ordinal" },
      )}
    ), counted as (
      update incidents as i set entry_count = i.entry_count + added.entries
      from (select incident_id, count(*)::integer as entries from given group by incident_id) as added
      where i.id = added.incident_id and (${most}::integer is null or i.entry_count < ${most})
      returning i.id
    )
    insert into incident_entries (incident_id, occurred_at, kind, author, text, status, is_public)
    select given.incident_id, given.at, given.kind, given.by, given.text, given.status, given.is_public
    from given join counted on counted.id = given.incident_id order by given.ordinal`;
  return count;
}

/** An entry about a mail. */
interface MailEntry extends AddressedEntry {
  readonly isReminder: boolean;
}

/**
 * Inserts entries about mails, in the given order. They are not counted in `entry_count`: the number of those about mails
 * is limited by itself, and the rows of the incidents stay unlocked, because mails of many incidents end together.
 */
export async function insertMailed(
  sql: Queryable,
  entries: readonly MailEntry[],
  most: { readonly all: number; readonly reminders: number },
): Promise<void> {
  await sql`
    with given as (
      select *, row_number() over (partition by incident_id order by ordinal) as place from ${given(
        sql,
        entries.map((entry) => ({ ...entry, most: entry.isReminder ? most.reminders : most.all })),
        { incidentId: "bigint", at: "timestamptz", kind: "text", text: "text", most: "integer" },
        { ordinality: "ordinal" },
      )}
    ), written as materialized (
      select i.id, (
        select count(*) from incident_entries as e where e.incident_id = i.id and e.kind in ('mailed', 'mail_delayed', 'mail_failed')
      ) as entries
      from incidents as i where i.id = any(array(select incident_id from given))
    )
    insert into incident_entries (incident_id, occurred_at, kind, text, is_public)
    select g.incident_id, g.at, g.kind, g.text, false
    from given as g join written as w on w.id = g.incident_id where w.entries + g.place <= g.most
    order by g.ordinal`;
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
