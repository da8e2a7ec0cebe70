import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";

/** An overdue monitor, with the facts on which its notices depend. */
export interface OverdueMonitor {
  readonly monitorId: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly checkType: CheckType;
  readonly isActive: boolean;
  readonly tags: readonly string[];
  /** JSON of MonitorSettings. */
  readonly settings: string;
  /** JSON of the FollowedMonitor of each monitor that it follows, by id. */
  readonly members: string;
  /** JSON of MonitorState. */
  readonly state: string;
  readonly stateVersion: number;
  /** The locations that it is checked from: those of its settings that the plan allows. */
  readonly plannedLocations: readonly string[];
  /** null if it is not checked by a schedule. */
  readonly intervalSeconds: number | null;
  /** The monitor it depends on; null: none. */
  readonly dependsOn: number | null;
  /** JSON of that one's MonitorState. */
  readonly dependencyState: string | null;
  /** Whether a check of that one runs now. */
  readonly isDependencyChecked: boolean;
  readonly dependencyDueAt: Date | null;
}

/** A monitor that a composite follows. */
export interface FollowedMonitor {
  readonly id: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly status: "up" | "down" | "unknown";
}

/**
 * Makes composites whose monitors have changed due for a sweep now. Those that other transactions have locked stay for
 * the next time. Their versions rise, so that a sweep that was planned before does not replace this one.
 */
export async function wakeComposites(sql: Sql, now: Date, limit: number): Promise<void> {
  await sql`
    with woken as materialized (
      select id, composite_id from composite_wakes order by id limit ${limit} for update skip locked
    ), held as materialized (
      select monitor_id from monitor_states where monitor_id in (select composite_id from woken)
      order by monitor_id for update skip locked
    ), done as (
      delete from composite_wakes as w using woken
      where w.id = woken.id and (
        woken.composite_id in (select monitor_id from held)
        or not exists (select from monitor_states where monitor_id = woken.composite_id)
      )
    )
    update monitor_states as t set visit_at = ${now}, state_version = state_version + 1
    from held where t.monitor_id = held.monitor_id`;
}

/** Lists monitors that are due for a sweep, the most overdue first. */
export async function listOverdue(sql: Sql, now: Date, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select monitor_id as id from monitor_states where visit_at <= ${now} order by visit_at limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Reads those of these monitors that are due for a sweep. */
export async function readOverdue(
  sql: Queryable,
  ids: readonly number[],
  now: Date,
): Promise<readonly OverdueMonitor[]> {
  return sql<OverdueMonitor[]>`
    select t.monitor_id as "monitorId", m.account_id as "accountId", m.name, m.url, m.check_type as "checkType",
      m.is_active as "isActive", m.tags, m.settings, (
        select coalesce(json_agg(
          json_build_object('id', f.id, 'name', f.name, 'tags', f.tags, 'status', ft.status) order by f.id
        )::text, '[]')
        from composite_members as c join monitors as f on f.id = c.member_id
          join monitor_states as ft on ft.monitor_id = c.member_id
        where c.composite_id = t.monitor_id
      ) as members, t.state, t.state_version as "stateVersion",
      s.locations as "plannedLocations", s.interval_seconds as "intervalSeconds", m.depends_on as "dependsOn",
      d.state as "dependencyState", coalesce(due.is_checked, false) as "isDependencyChecked",
      due.due_at as "dependencyDueAt"
    from monitor_states as t join monitors as m on m.id = t.monitor_id
      cross join lateral (
        select coalesce(array_agg(location), '{}') as locations, max(interval_seconds) as interval_seconds
        from monitor_slots where monitor_id = t.monitor_id
      ) as s
      left join monitor_states as d on d.monitor_id = m.depends_on
      left join lateral (
        select bool_or(lease <> 0) as is_checked, min(due_at) filter (where lease = 0) as due_at
        from monitor_slots where monitor_id = m.depends_on
      ) as due on m.depends_on is not null
    where t.monitor_id = any(${[...ids]}::bigint[]) and t.visit_at <= ${now} order by t.monitor_id`;
}

/**
 * Locks monitors for this transaction, in the order of all writers: the accounts, then the states by id. Returns those
 * that no other transaction has locked.
 */
export async function lockOverdue(tx: Transaction, ids: readonly number[]): Promise<readonly number[]> {
  await tx`
    select from accounts where id in (select account_id from monitors where id = any(${[...ids]}::bigint[]))
    order by id for key share`;
  const rows = await tx<{ id: number }[]>`
    select monitor_id as id from monitor_states where monitor_id = any(${[...ids]}::bigint[])
    order by monitor_id for update skip locked`;
  return rows.map(({ id }) => id);
}

/** The next sweep of a monitor that needs nothing now. */
export interface PlannedSweep {
  readonly monitorId: number;
  /** The version that the plan follows from: one whose state has changed since is swept again. */
  readonly stateVersion: number;
  /** Unix milliseconds; null: none is needed. */
  readonly visitAt: number | null;
}

/** Plans the next sweeps of monitors whose states are still those that were read. Returns how many there were. */
export async function moveSweeps(sql: Sql, planned: readonly PlannedSweep[]): Promise<number> {
  const moved = await sql`
    with given as (
      select * from ${given(sql, planned, { monitorId: "bigint", stateVersion: "bigint", visitAt: "timestamptz" })}
    ), held as materialized (
      select t.monitor_id, g.visit_at from monitor_states as t
      join given as g on g.monitor_id = t.monitor_id and g.state_version = t.state_version
      order by t.monitor_id for update of t skip locked
    )
    update monitor_states as t set visit_at = held.visit_at from held where t.monitor_id = held.monitor_id`;
  return moved.count;
}

/** A monitor that a sweep changed. */
export interface ChangedMonitor {
  readonly monitorId: number;
  readonly status: "up" | "down" | "unknown";
  /** JSON of MonitorState. */
  readonly state: string;
  /** Unix milliseconds. */
  readonly visitAt: number;
  /** Extra checks. Times are Unix milliseconds. */
  readonly rechecks: readonly { readonly location: string; readonly at: number }[];
}

/** Writes the states of locked monitors, and what is to be checked. */
export async function writeSwept(tx: Transaction, changed: readonly ChangedMonitor[]): Promise<void> {
  const wishes = changed.flatMap(({ monitorId, rechecks }) => rechecks.map((wish) => ({ monitorId, ...wish })));
  await tx`
    with given as (
      select * from ${given(tx, changed, { monitorId: "bigint", status: "text", state: "text", visitAt: "timestamptz" })}
    ), wishes as (
      select * from ${given(tx, wishes, { monitorId: "bigint", location: "text", at: "timestamptz" })}
    ), slots as materialized (
      select s.monitor_id, s.location, wishes.at from monitor_slots as s
      join wishes on wishes.monitor_id = s.monitor_id and wishes.location = s.location
      order by s.monitor_id, s.location for update of s
    ), wanted as (
      update monitor_slots as s set extra_at = least(s.extra_at, slots.at), due_at = least(s.due_at, slots.at)
      from slots where s.monitor_id = slots.monitor_id and s.location = slots.location
    )
    update monitor_states as t
    set state_version = t.state_version + 1, status = g.status, state = g.state, visit_at = g.visit_at
    from given as g where t.monitor_id = g.monitor_id`;
}

/** Has a locked monitor swept at a time, Unix milliseconds, at the latest. */
export async function sweepBy(tx: Transaction, monitorId: number, at: number): Promise<void> {
  await tx`
    update monitor_states set visit_at = least(visit_at, ${new Date(at)}::timestamptz)
    where monitor_id = ${monitorId}`;
}
