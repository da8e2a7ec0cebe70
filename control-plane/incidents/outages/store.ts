import type { Queryable } from "#control-plane/database/connect.ts";
import type { NewEntry } from "#control-plane/incidents/entries/entry.ts";
import type { AffectedLocation, Cause, Incident } from "#control-plane/incidents/incident.ts";
import { columns, readRow, type IncidentRow } from "#control-plane/incidents/store.ts";

/** An outage to insert. */
type NewOutage = Pick<Incident, "accountId" | "title" | "startedAt" | "confirmedAt" | "locations" | "suppressedBy"> & {
  readonly monitor: NonNullable<Incident["monitor"]>;
  readonly cause: Cause;
};

/**
 * Inserts an outage, or finds the one that is open for its monitor. A concurrent insert for the same monitor waits
 * until the other transaction has ended.
 */
export async function insertOutage(
  sql: Queryable,
  made: NewOutage,
): Promise<{ readonly incident: Incident; readonly isNew: boolean }> {
  const { monitor } = made;
  // On a conflict, an update that changes nothing returns the row of the other transaction. xmax is the transaction that
  // has locked or changed a row: only a row that this statement has inserted has none.
  const [row] = await sql<(IncidentRow & { isNew: boolean })[]>`
    insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
      status, impact, is_public, started_at, confirmed_at, cause_code, cause_message, locations, suppressed_by,
      entry_count)
    values (${made.accountId}, ${monitor.id}, ${monitor.name}, ${monitor.url}, ${monitor.checkType},
      array[${monitor.id}::bigint], '{}', ${made.title}, 'investigating', 'major', true, ${made.startedAt},
      ${made.confirmedAt}, ${made.cause.code}, ${made.cause.message}, ${JSON.stringify(made.locations)},
      ${made.suppressedBy}, 0)
    on conflict (monitor_id) where resolved_at is null do update set monitor_id = excluded.monitor_id
    returning ${columns(sql)}, xmax = 0 as "isNew"`;
  if (row === undefined) throw new Error("an outage was neither inserted nor found");
  return { incident: readRow(row), isNew: row.isNew };
}

/** Finds an open outage and locks it; null if it has ended or there is none. */
export async function lockOutage(sql: Queryable, id: number): Promise<Incident | null> {
  const [row] = await sql<IncidentRow[]>`
    select ${columns(sql)} from incidents
    where id = ${id} and monitor_id is not null and resolved_at is null for update`;
  return row === undefined ? null : readRow(row);
}

/** Stores the locations and the cause of an outage. */
export async function updateLocations(
  sql: Queryable,
  id: number,
  locations: readonly AffectedLocation[],
  cause: Cause | null,
): Promise<void> {
  await sql`
    update incidents set locations = ${JSON.stringify(locations)}, cause_code = ${cause?.code ?? null},
      cause_message = ${cause?.message ?? null}
    where id = ${id}`;
}

/** Stores which monitor's outage holds the notices of an outage back. */
export async function updateSuppressedBy(sql: Queryable, id: number, suppressedBy: number): Promise<void> {
  await sql`update incidents set suppressed_by = ${suppressedBy} where id = ${id}`;
}

/** Ends an open outage, never before its confirmation. Returns null if it has ended already or there is none. */
export async function markRecovered(sql: Queryable, id: number, recoveredAt: Date): Promise<Incident | null> {
  const [row] = await sql<IncidentRow[]>`
    update incidents set status = 'resolved', recovered_at = greatest(${recoveredAt}::timestamptz, confirmed_at),
      resolved_at = greatest(${recoveredAt}::timestamptz, confirmed_at)
    where id = ${id} and monitor_id is not null and resolved_at is null
    returning ${columns(sql)}`;
  return row === undefined ? null : readRow(row);
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
    with ended as (
      update incidents set status = 'resolved', resolved_at = greatest(${at}::timestamptz, confirmed_at),
        entry_count = entry_count + 1
      where monitor_id = any(${[...monitorIds]}::bigint[]) and resolved_at is null
      returning incidents.*
    ), noted as (
      insert into incident_entries (incident_id, occurred_at, kind, text, is_public)
      select id, ${at}, ${entry.kind}, ${entry.text}, false from ended
    )
    select ${columns(sql)} from ended`;
  return rows.map(readRow);
}
