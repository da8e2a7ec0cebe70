import type { Queryable } from "#control-plane/core/database/connect.ts";

/** Returns the names of those of these monitors that belong to the account. */
export async function findNames(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly name: string }[]> {
  return sql`select id, name from monitors where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
}

/** A monitor with its state and its schedule. */
interface MonitorRow {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Beginning of the newest good check of a location that it is still checked from; null if there is none. */
  readonly goodAt: Date | null;
  /** JSON of MonitorState. */
  readonly state: string;
  /** The longest of its locations; null if it is not scheduled. */
  readonly intervalSeconds: number | null;
  readonly timeoutSeconds: number | null;
}

/** Reads those of these monitors that belong to the account, in any order. */
export async function findSummaries(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly MonitorRow[]> {
  return sql<MonitorRow[]>`
    select m.id, m.account_id as "accountId", m.name, m.tags, m.is_active as "isActive",
      m.created_at as "createdAt", m.updated_at as "updatedAt",
      s.good_at as "goodAt", t.state,
      s.interval_seconds as "intervalSeconds", s.timeout_seconds as "timeoutSeconds"
    from monitors as m join monitor_states as t on t.monitor_id = m.id
    cross join lateral (
      select max(interval_seconds) as interval_seconds, max(timeout_seconds) as timeout_seconds,
        max(good_at) as good_at
      from monitor_slots where monitor_id = m.id
    ) as s
    where m.account_id = ${accountId} and m.id = any(${[...ids]}::bigint[])`;
}
