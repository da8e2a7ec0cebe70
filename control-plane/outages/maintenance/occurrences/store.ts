import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { Plan } from "#control-plane/outages/maintenance/occurrences/plan.ts";
import type { Span } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import type { WindowSettings } from "#control-plane/outages/maintenance/window.ts";

/** A window that needs rows for later occurrences. */
interface DueWindow extends Pick<WindowSettings, "startsAt" | "durationSeconds" | "rrule" | "timezone"> {
  readonly id: number;
  readonly accountId: number;
  readonly plannedUntil: Date;
}

/** A time of maintenance that has ended, with the monitors that it covered. */
export interface EndedMaintenance {
  readonly accountId: number;
  readonly monitorIds: readonly number[];
  /** It covered the monitors with one of these tags too. */
  readonly tags: readonly string[];
  readonly endedAt: Date;
}

/** The window of a plan. */
type PlannedWindow = Pick<DueWindow, "id" | "accountId">;

/**
 * Replaces the occurrences of a window from now on. Its row must be locked. An occurrence in progress goes on if the
 * plan has one with the same start and the scope is the same; otherwise it ends now. Past ones stay.
 */
export async function replaceOccurrences(tx: Transaction, window: PlannedWindow, plan: Plan, now: Date): Promise<void> {
  await tx`
    with removed as (
      delete from maintenance_occurrences where maintenance_id = ${window.id} and covers_from >= ${now}
    )
    update maintenance_occurrences as o
    set ends_at = coalesce((
      select min(planned.ends_at) from ${planned(tx, plan.occurrences)}
      where planned.starts_at = o.starts_at and o.scope_id = ${presentScope(tx, window.id)}
    ), ${now})
    where maintenance_id = ${window.id} and covers_from < ${now} and ends_at > ${now}`;
  await tx`
    insert into maintenance_occurrences (maintenance_id, scope_id, account_id, starts_at, covers_from, ends_at)
    select distinct on (covers_from) ${window.id}::bigint, ${presentScope(tx, window.id)}, ${window.accountId}::bigint,
      starts_at, covers_from, ends_at
    from (
      select starts_at, greatest(starts_at, ${now}) as covers_from, ends_at from ${planned(tx, plan.occurrences)}
    ) as planned
    where not exists (
      select from maintenance_occurrences as o
      where o.maintenance_id = ${window.id} and o.starts_at = planned.starts_at and o.ends_at > ${now}
    )
    order by covers_from, ends_at desc`;
  await writePlan(tx, window.id, plan);
}

/** Adds the occurrences of a plan that follows the last one. The window's row must be locked. */
export async function addOccurrences(tx: Transaction, window: PlannedWindow, plan: Plan): Promise<void> {
  await tx`
    insert into maintenance_occurrences (maintenance_id, scope_id, account_id, starts_at, covers_from, ends_at)
    select ${window.id}::bigint, ${presentScope(tx, window.id)}, ${window.accountId}::bigint, starts_at, starts_at,
      ends_at
    from ${planned(tx, plan.occurrences)}
    on conflict do nothing`;
  await writePlan(tx, window.id, plan);
}

/** Read by each statement anew: a statement that has waited for the lock still sees the scope from before. */
function presentScope(tx: Transaction, id: number) {
  return tx`(select s.id from maintenance_scopes as s where s.maintenance_id = ${id} and s.replaced_at is null)`;
}

async function writePlan(tx: Transaction, id: number, { until, laterStart }: Plan): Promise<void> {
  await tx`
    update maintenance
    set planned_until = ${new Date(until)}, later_starts_at = ${laterStart === null ? null : new Date(laterStart)}
    where id = ${id}`;
}

function planned(tx: Transaction, occurrences: readonly Span[]) {
  const rows = occurrences.map(({ from, to }) => ({ startsAt: from, endsAt: to }));
  return given(tx, rows, { startsAt: "timestamptz", endsAt: "timestamptz" }, { as: "planned" });
}

/**
 * Locks windows with an occurrence that starts before `until` and has no row, until the transaction ends. Windows that
 * another transaction has locked are left out.
 */
export async function claimDueWindows(tx: Transaction, until: Date, limit: number): Promise<readonly DueWindow[]> {
  return tx<DueWindow[]>`
    select id, account_id as "accountId", starts_at as "startsAt", duration_seconds as "durationSeconds", rrule,
      timezone, planned_until as "plannedUntil"
    from maintenance where later_starts_at < ${until} order by later_starts_at limit ${limit} for update skip locked`;
}

/** Reads the times of maintenance that ended after `from`, up to `to`. */
export async function readEnded(sql: Sql, from: Date, to: Date): Promise<readonly EndedMaintenance[]> {
  return sql<EndedMaintenance[]>`
    select o.account_id as "accountId", s.monitor_ids as "monitorIds", s.tags, max(o.ends_at) as "endedAt"
    from maintenance_occurrences as o join maintenance_scopes as s on s.id = o.scope_id
    where o.ends_at > ${from} and o.ends_at <= ${to} group by s.id, o.account_id`;
}

/** Deletes occurrences that ended before a time. Returns how many. */
export async function deleteEndedBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from maintenance_occurrences where (maintenance_id, covers_from) in (
      select maintenance_id, covers_from from maintenance_occurrences where ends_at < ${before} limit ${limit}
    )`;
  return count;
}

/** Deletes scopes that no occurrence has any more, other than the present ones. Of one window, or of all. */
export async function deleteIdleScopes(sql: Queryable, maintenanceId: number | null): Promise<void> {
  await sql`
    delete from maintenance_scopes as s
    where replaced_at is not null and (${maintenanceId}::bigint is null or maintenance_id = ${maintenanceId})
      and not exists (select from maintenance_occurrences where scope_id = s.id)`;
}
