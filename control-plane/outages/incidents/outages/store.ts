import type { Queryable } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { NewEntry } from "#control-plane/outages/incidents/entry.ts";
import type { Cause, Incident } from "#control-plane/outages/incidents/incident.ts";
import { columns, readRow, type IncidentRow } from "#control-plane/outages/incidents/store.ts";

/** An outage to insert. */
export type NewOutage = Pick<
  Incident,
  "accountId" | "title" | "startedAt" | "confirmedAt" | "locations" | "suppressedBy"
> & {
  readonly monitor: NonNullable<Incident["monitor"]>;
  readonly cause: Cause;
};

/**
 * Inserts outages of different monitors, or finds those that are open for them, in the order of the monitors' ids. A
 * concurrent insert for the same monitor waits until the other transaction has ended. Returns them by monitor id.
 */
export async function insertOutages(
  sql: Queryable,
  made: readonly NewOutage[],
): Promise<ReadonlyMap<number, { readonly incident: Incident; readonly isNew: boolean }>> {
  // On a conflict, an update that changes nothing returns the row of the other transaction. xmax is the transaction that
  // has locked or changed a row: only a row that this statement has inserted has none.
  const rows = await sql<(IncidentRow & { monitorId: number; isNew: boolean })[]>`
    insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
      status, impact, is_public, is_announced, started_at, confirmed_at, cause_code, cause_message, locations,
      suppressed_by, entry_count)
    select account_id, monitor_id, monitor_name, monitor_url, check_type, array[monitor_id], '{}', title,
      'investigating', 'major', true, true, started_at, confirmed_at, cause_code, cause_message, locations,
      suppressed_by, 0
    from unnest(
      ${made.map(({ accountId }) => accountId)}::bigint[],
      ${made.map(({ monitor }) => monitor.id)}::bigint[],
      ${made.map(({ monitor }) => monitor.name)}::text[],
      ${made.map(({ monitor }) => monitor.url)}::text[],
      ${made.map(({ monitor }) => monitor.checkType)}::text[],
      ${made.map(({ title }) => title)}::text[],
      ${made.map(({ startedAt }) => startedAt.toISOString())}::timestamptz[],
      ${made.map(({ confirmedAt }) => confirmedAt.toISOString())}::timestamptz[],
      ${made.map(({ cause }) => cause.code)}::text[],
      ${made.map(({ cause }) => cause.message)}::text[],
      ${made.map(({ locations }) => JSON.stringify(locations))}::text[],
      ${made.map(({ suppressedBy }) => suppressedBy)}::bigint[]
    ) as given (account_id, monitor_id, monitor_name, monitor_url, check_type, title, started_at, confirmed_at,
      cause_code, cause_message, locations, suppressed_by)
    order by monitor_id
    on conflict (monitor_id) where resolved_at is null do update set monitor_id = excluded.monitor_id
    returning ${columns(sql)}, xmax = 0 as "isNew"`;
  return new Map(rows.map((row) => [row.monitorId, { incident: readRow(row), isNew: row.isNew }]));
}

/** Finds an open outage and locks it; null if it has ended or there is none. */
export async function lockOutage(sql: Queryable, id: number): Promise<Incident | null> {
  const [row] = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents
    where id = ${id} and monitor_id is not null and resolved_at is null for update`;
  return row === undefined ? null : readRow(row);
}

/** Stores the locations and the causes of an outage. */
export async function updateOutage(
  sql: Queryable,
  { id, locations, cause, causeNow }: Pick<Incident, "id" | "locations" | "cause" | "causeNow">,
): Promise<void> {
  const changed = causeNow === cause ? null : causeNow;
  await sql`
    update incidents set locations = ${JSON.stringify(locations)}, cause_code = ${cause?.code ?? null},
      cause_message = ${cause?.message ?? null}, cause_now_code = ${changed?.code ?? null},
      cause_now_message = ${changed?.message ?? null}
    where id = ${id}`;
}

/** Stores the locations of outages, which are locked. */
export async function updateLocations(
  sql: Queryable,
  outages: readonly Pick<Incident, "id" | "locations">[],
): Promise<void> {
  if (outages.length === 0) return;
  await sql`
    update incidents as i set locations = given.locations::text
    from ${given(sql, outages, { id: "bigint", locations: "json" })} where i.id = given.id`;
}

/** Stores which monitors' outages hold the notices of outages back. Locks the outages in the order of their ids. */
export async function updateSuppressedBy(
  sql: Queryable,
  outages: readonly { readonly incidentId: number; readonly suppressedBy: number }[],
): Promise<void> {
  await sql`
    with locked as materialized (
      select i.id, given.suppressed_by from ${given(sql, outages, { incidentId: "bigint", suppressedBy: "bigint" })}
      join incidents as i on i.id = given.incident_id order by i.id for update of i
    )
    update incidents as i set suppressed_by = locked.suppressed_by from locked where i.id = locked.id`;
}

/**
 * Ends open outages, none before its confirmation, and locks them in the order of their ids. Returns them by id; those
 * that have ended already are missing.
 */
export async function markRecovered(
  sql: Queryable,
  outages: readonly { readonly incidentId: number; readonly recoveredAt: Date }[],
): Promise<ReadonlyMap<number, Incident>> {
  const rows = await sql<IncidentRow[]>`
    with ending as materialized (
      select i.id, greatest(given.recovered_at, i.confirmed_at) as ended_at
      from ${given(sql, outages, { incidentId: "bigint", recoveredAt: "timestamptz" })}
      join incidents as i on i.id = given.incident_id
      where i.monitor_id is not null and i.resolved_at is null
      order by i.id for update of i
    ), ended as (
      update incidents as i set status = 'resolved', recovered_at = ending.ended_at, resolved_at = ending.ended_at
      from ending where i.id = ending.id returning i.*
    )
    select ${columns(sql)} from ended`;
  return new Map(rows.map((row) => [row.id, readRow(row)]));
}

/**
 * Ends the open outages of these monitors without a recovery, each with a copy of the entry, in one statement. Returns
 * the ended outages in any order.
 */
export async function endOutages(
  sql: Queryable,
  monitorIds: readonly number[],
  at: Date,
  entry: Pick<NewEntry, "kind" | "text">,
): Promise<readonly Incident[]> {
  const rows = await sql<IncidentRow[]>`
    with locked as materialized (
      select id from incidents where monitor_id = any(${[...monitorIds]}::bigint[]) and resolved_at is null
      order by id for update
    ), ended as (
      update incidents as i set status = 'resolved', resolved_at = greatest(${at}::timestamptz, i.confirmed_at),
        entry_count = i.entry_count + 1
      from locked where i.id = locked.id
      returning i.*
    ), noted as (
      insert into incident_entries (incident_id, occurred_at, kind, text, is_public)
      select id, ${at}, ${entry.kind}, ${entry.text}, false from ended
    )
    select ${columns(sql)} from ended`;
  return rows.map(readRow);
}
