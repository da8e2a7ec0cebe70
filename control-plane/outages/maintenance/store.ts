import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type { MaintenanceWindow, Status, WindowSettings } from "#control-plane/outages/maintenance/window.ts";

/** Filter of a list; an absent field matches every window. */
export interface WindowFilter {
  readonly id?: number | undefined;
  readonly status?: Status | undefined;
  /** A monitor that the window names. */
  readonly monitorId?: number | undefined;
}

/** A time that a window covers or covered. */
interface CoveredTime {
  readonly windowId: number;
  readonly from: Date;
  readonly to: Date;
}

/**
 * Locks an account against other writes of its windows until the transaction ends. It is the first lock of a write, as
 * it is of an erasure: in another order the two could deadlock.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<void> {
  await tx`select from accounts where id = ${accountId} for no key update`;
}

/** Inserts a window with its scope and returns its id. The occurrences are written afterwards. */
export async function insertWindow(
  tx: Transaction,
  accountId: number,
  settings: WindowSettings,
  now: Date,
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    with made as (
      insert into maintenance (account_id, title, starts_at, duration_seconds, rrule, timezone, is_public, cancelled_at,
        planned_until, created_at, updated_at)
      values (${accountId}, ${settings.title}, ${settings.startsAt}, ${settings.durationSeconds}, ${settings.rrule},
        ${settings.timezone}, ${settings.isPublic}, ${settings.isCancelled ? now : null}, ${now}, ${now}, ${now})
      returning id
    )
    insert into maintenance_scopes (maintenance_id, monitor_ids, tags)
    select id, ${[...settings.monitorIds]}::bigint[], ${[...settings.tags]}::text[] from made
    returning maintenance_id as id`;
  if (row === undefined) throw new Error("the window was not inserted");
  return row.id;
}

/** Locks a window until the transaction ends. Returns false if the account has none with this id. */
export async function lockWindow(tx: Transaction, accountId: number, id: number): Promise<boolean> {
  const { count } = await tx`
    select from maintenance where id = ${id} and account_id = ${accountId} and deleted_at is null for update`;
  return count > 0;
}

/** Writes the settings of a window, without its scope. */
export async function updateWindow(tx: Transaction, id: number, settings: WindowSettings, now: Date): Promise<void> {
  await tx`
    update maintenance
    set title = ${settings.title}, starts_at = ${settings.startsAt}, duration_seconds = ${settings.durationSeconds},
      rrule = ${settings.rrule}, timezone = ${settings.timezone}, is_public = ${settings.isPublic},
      cancelled_at = case when ${settings.isCancelled} then coalesce(cancelled_at, ${now}) end, updated_at = ${now}
    where id = ${id}`;
}

/** Writes what a window covers from now on: a new scope if it differs from the present one. */
export async function replaceScope(
  tx: Transaction,
  id: number,
  { monitorIds, tags }: Pick<WindowSettings, "monitorIds" | "tags">,
  now: Date,
): Promise<void> {
  const { count } = await tx`
    update maintenance_scopes set replaced_at = ${now}
    where maintenance_id = ${id} and replaced_at is null
      and (monitor_ids <> ${[...monitorIds]}::bigint[] or tags <> ${[...tags]}::text[])`;
  if (count === 0) return;
  await tx`
    insert into maintenance_scopes (maintenance_id, monitor_ids, tags)
    values (${id}, ${[...monitorIds]}::bigint[], ${[...tags]}::text[])`;
}

/** Notes that visitors are informed of a window. Returns false if they were before. */
export async function markAnnounced(tx: Transaction, id: number, now: Date): Promise<boolean> {
  const { count } = await tx`
    update maintenance set is_announced = true, announced_at = ${now} where id = ${id} and not is_announced`;
  return count > 0;
}

/** Marks a window as deleted. Its occurrences stay. Returns its title; null if there is none. */
export async function markDeleted(tx: Transaction, id: number, now: Date): Promise<string | null> {
  const [row] = await tx<{ title: string }[]>`
    update maintenance set deleted_at = ${now}, updated_at = ${now} where id = ${id} returning title`;
  return row?.title ?? null;
}

/** Lists a page of an account's windows, newest first. */
export async function listWindows(
  sql: Queryable,
  accountId: number,
  filter: WindowFilter,
  now: Date,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly MaintenanceWindow[]> {
  return sql<MaintenanceWindow[]>`
    select * from ${windows(sql, accountId, now)} where ${matches(sql, filter)}
    order by id desc limit ${limit} offset ${offset}`;
}

/** Counts an account's windows that match a filter. */
export async function countWindows(
  sql: Queryable,
  accountId: number,
  filter: WindowFilter,
  now: Date,
): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from ${windows(sql, accountId, now)} where ${matches(sql, filter)}`;
  return row?.total ?? 0;
}

function matches(sql: Queryable, { id, status, monitorId }: WindowFilter) {
  return sql`${id === undefined ? sql`true` : sql`id = ${id}`}
    and ${status === undefined ? sql`true` : sql`status = ${status}`}
    and ${monitorId === undefined ? sql`true` : sql`${monitorId} = any("monitorIds")`}`;
}

/** The windows of an account with their status: what the rows of occurrences say about now. */
function windows(sql: Queryable, accountId: number, now: Date) {
  return sql`(
    select m.id, m.title, s.monitor_ids as "monitorIds", s.tags, m.starts_at as "startsAt",
      m.duration_seconds as "durationSeconds", m.rrule, m.timezone, m.is_public as "isPublic",
      m.cancelled_at is not null as "isCancelled", m.created_at as "createdAt", m.updated_at as "updatedAt",
      case when m.cancelled_at is not null then 'cancelled' when running.ends_at is not null then 'in_progress'
        when coalesce(next.starts_at, m.later_starts_at) is not null then 'scheduled' else 'completed' end as status,
      coalesce(next.starts_at, m.later_starts_at) as "nextStartsAt", running.ends_at as "currentEndsAt"
    from maintenance as m
    join maintenance_scopes as s on s.maintenance_id = m.id and s.replaced_at is null
    cross join lateral (
      select max(ends_at) as ends_at from maintenance_occurrences
      where maintenance_id = m.id and covers_from <= ${now} and ends_at > ${now}
        and covers_from > ${now}::timestamptz - interval '30 days'
    ) as running
    cross join lateral (
      select min(starts_at) as starts_at from maintenance_occurrences
      where maintenance_id = m.id and covers_from > ${now}
    ) as next
    where m.account_id = ${accountId} and m.deleted_at is null
  ) as windows`;
}

/** Removes deleted monitors from every window that names them. */
export async function removeMonitors(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  const ids = tx`${[...monitorIds]}::bigint[]`;
  await tx`
    update maintenance_scopes
    set monitor_ids = array(
      select id from unnest(monitor_ids) with ordinality as kept (id, position)
      where id <> all(${ids}) order by position
    )
    where monitor_ids && ${ids}`;
}

/** Lists the newest times that the windows of an account covered, oldest first. */
export async function listCoveredTimes(
  sql: Queryable,
  accountId: number,
  now: Date,
  limit: number,
): Promise<readonly CoveredTime[]> {
  return sql<CoveredTime[]>`
    select * from (
      select maintenance_id as "windowId", covers_from as "from", least(ends_at, ${now}) as "to"
      from maintenance_occurrences
      where account_id = ${accountId} and covers_from < ${now} order by covers_from desc limit ${limit}
    ) as newest order by "from"`;
}

/**
 * Deletes windows of which nothing is left to know: deleted ones without an occurrence, and ones that are over, have no
 * occurrence, and were not changed since a time. Returns how many.
 */
export async function deleteSpentWindows(sql: Sql, unchangedSince: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from maintenance where id in (
      select id from maintenance as m
      where (deleted_at is not null or (later_starts_at is null and updated_at < ${unchangedSince}))
        and not exists (select from maintenance_occurrences where maintenance_id = m.id)
      limit ${limit} for update skip locked
    )`;
  return count;
}
