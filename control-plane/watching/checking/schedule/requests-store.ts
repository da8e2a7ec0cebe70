import type { Queryable } from "#control-plane/core/database/connect.ts";

/**
 * Requests an extra check of a monitor at all its locations, which counts like a planned one. They must be locked
 * (lockMonitors).
 */
export async function requestRun(sql: Queryable, monitorId: number, now: Date): Promise<void> {
  await sql`
    update monitor_slots set extra_at = ${now}, is_requested = true, due_at = least(due_at, ${now})
    where monitor_id = ${monitorId}`;
}

/** Requests the same of several monitors, whose schedule entries it locks in the order of all writers. */
export async function requestRuns(sql: Queryable, monitorIds: readonly number[], now: Date): Promise<void> {
  await sql`
    with wanted as (
      select monitor_id, location from monitor_slots where monitor_id = any(${[...monitorIds]}::bigint[])
      order by monitor_id, location for update
    )
    update monitor_slots as s set extra_at = ${now}, is_requested = true, due_at = least(s.due_at, ${now})
    from wanted where s.monitor_id = wanted.monitor_id and s.location = wanted.location`;
}

/** Monitors of an account, by id or by tag. */
interface MonitorScope {
  readonly accountId: number;
  readonly monitorIds: readonly number[];
  readonly tags: readonly string[];
}

/** Requests the same of monitors that are down, at the locations whose newest check began before a time. */
export async function requestRunsOfDown(
  sql: Queryable,
  { accountId, monitorIds, tags }: MonitorScope,
  { before, now }: { readonly before: Date; readonly now: Date },
): Promise<void> {
  await sql`
    with wanted as (
      select s.monitor_id, s.location
      from monitors as m join monitor_states as t on t.monitor_id = m.id join monitor_slots as s on s.monitor_id = m.id
      where m.account_id = ${accountId} and t.status = 'down' and s.checked_at < ${before} and not s.is_requested
        and (m.id = any(${[...monitorIds]}::bigint[]) or m.tags && ${[...tags]}::text[])
      order by s.monitor_id, s.location for update of s
    )
    update monitor_slots as s set extra_at = ${now}, is_requested = true, due_at = least(s.due_at, ${now})
    from wanted where s.monitor_id = wanted.monitor_id and s.location = wanted.location`;
}
