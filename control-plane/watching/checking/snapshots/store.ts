import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";

/** A monitor with its state. */
export interface SnapshotRow {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: CheckType;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  readonly createdAt: Date;
  /** JSON of MonitorState. */
  readonly state: string;
}

/** The monitors of an account; tag null: all of them. */
export interface SnapshotScope {
  readonly accountId: number;
  readonly tag: string | null;
}

/** Reads the first monitors of an account by id, at most this number. */
export async function readSnapshotRows(
  sql: Queryable,
  { accountId, tag }: SnapshotScope,
  most: number,
): Promise<readonly SnapshotRow[]> {
  return sql<SnapshotRow[]>`
    select m.id, m.name, m.url, m.check_type as "checkType", m.is_active as "isActive", m.tags,
      m.created_at as "createdAt", t.state
    from monitors as m join monitor_states as t on t.monitor_id = m.id
    where m.account_id = ${accountId} and (${tag}::text is null or ${tag} = any(m.tags))
    order by m.id limit ${most}`;
}

/** Counts the monitors of an account whose ids are greater than this one. */
export async function countMonitorsAfter(
  sql: Queryable,
  { accountId, tag }: SnapshotScope,
  id: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from monitors
    where account_id = ${accountId} and (${tag}::text is null or ${tag} = any(tags)) and id > ${id}`;
  return row?.count ?? 0;
}

/** The newest check of a monitor at one location. Times are Unix milliseconds. */
export type EntryRow = readonly [
  location: string,
  intervalSeconds: number,
  timeoutSeconds: number,
  /** null: no check yet. */
  checkedAt: number | null,
  lagMs: number | null,
  /** null: no answer. */
  responseMs: number | null,
  /** Text of phases.ts. */
  phases: string | null,
];

/** The newest checks of a monitor: JSON of a list of EntryRow, by location. */
interface EntriesRow {
  readonly monitorId: number;
  readonly slots: string;
}

/**
 * Reads the newest checks of monitors at all their locations, the first ones by monitor and location. One JSON text a
 * monitor is read several times as quickly as rows of eight columns.
 */
export async function readEntryRows(
  sql: Queryable,
  monitorIds: readonly number[],
  most: number,
): Promise<readonly EntriesRow[]> {
  return sql<EntriesRow[]>`
    with slots as (
      select monitor_id, location, interval_seconds, timeout_seconds, checked_at, lag_ms, response_ms, phases
      from monitor_slots where monitor_id = any(${[...monitorIds]}::bigint[]) order by monitor_id, location limit ${most}
    )
    select monitor_id as "monitorId", json_agg(json_build_array(location, interval_seconds, timeout_seconds,
      round(date_part('epoch', checked_at) * 1000)::bigint, lag_ms, response_ms, phases) order by location)::text as slots
    from slots group by monitor_id`;
}
