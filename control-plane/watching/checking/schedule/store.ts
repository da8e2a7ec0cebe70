import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { ProbedType } from "#control-plane/outages/kinds/kinds.ts";

/** A schedule entry to insert: when a monitor is checked at one location. */
export interface NewScheduleEntry {
  readonly monitorId: number;
  readonly location: string;
  readonly accountId: number;
  readonly intervalSeconds: number;
  readonly phaseMs: number;
  readonly timeoutSeconds: number;
  /** Time of the first check. */
  readonly plannedAt: Date;
}

/** A claimed schedule entry with the record and the state that were current when it was claimed. */
export interface ClaimedEntry {
  readonly monitorId: number;
  readonly location: string;
  readonly accountId: number;
  readonly lease: number;
  /** All locations that the monitor is checked from: those of its settings that the plan allows. */
  readonly plannedLocations: readonly string[];
  readonly intervalSeconds: number;
  readonly phaseMs: number;
  readonly plannedAt: Date;
  readonly extraAt: Date | null;
  readonly isRequested: boolean;
  readonly url: string;
  readonly checkType: ProbedType;
  /** JSON of MonitorSettings. */
  readonly settings: string;
  readonly secrets: Uint8Array | null;
  readonly version: number;
  /** JSON of MonitorState. */
  readonly state: string;
  readonly stateVersion: number;
}

const ENTRY_TYPES = {
  monitorId: "bigint",
  location: "text",
  accountId: "bigint",
  intervalSeconds: "integer",
  phaseMs: "integer",
  timeoutSeconds: "integer",
  plannedAt: "timestamptz",
} as const;

/** Inserts schedule entries. */
export async function insertEntries(sql: Queryable, entries: readonly NewScheduleEntry[]): Promise<void> {
  await sql`
    insert into monitor_slots (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds,
      planned_at, due_at)
    select given.*, given.planned_at from ${given(sql, entries, ENTRY_TYPES)}`;
}

/**
 * Deletes the schedule entries of monitors, which must be locked (lockMonitors). A running check can no longer be
 * recorded.
 */
export async function deleteEntries(sql: Queryable, monitorIds: readonly number[]): Promise<void> {
  await sql`
    with removed as (
      delete from monitor_slots where monitor_id = any(${[...monitorIds]}::bigint[]) returning monitor_id, checked_at
    ), ${kept(sql)}
    select`;
}

/** Keeps the time of the newest check of removed schedule entries: a paused monitor has none. */
function kept(sql: Queryable) {
  return sql`kept as (
    update monitor_states as t set last_checked_at = greatest(t.last_checked_at, newest.checked_at)
    from (select monitor_id, max(checked_at) as checked_at from removed group by monitor_id) as newest
    where t.monitor_id = newest.monitor_id and newest.checked_at is not null
  )`;
}

/**
 * Makes the schedule entries of monitors those of `schedule entries`: deletes other locations, adapts the interval and
 * timeout of known ones, whose planned times move only if their interval changes, and inserts new ones. They must be
 * locked (lockMonitors).
 */
export async function replaceEntries(
  sql: Queryable,
  monitorIds: readonly number[],
  entries: readonly NewScheduleEntry[],
): Promise<void> {
  await sql`
    with given as (
      select * from ${given(sql, entries, ENTRY_TYPES)}
    ), removed as (
      delete from monitor_slots as s where s.monitor_id = any(${[...monitorIds]}::bigint[])
        and not exists (select from given as g where g.monitor_id = s.monitor_id and g.location = s.location)
      returning s.monitor_id, s.checked_at
    ), ${kept(sql)}
    insert into monitor_slots as s (monitor_id, location, account_id, interval_seconds, phase_ms, timeout_seconds,
      planned_at, due_at)
    select given.*, given.planned_at from given
    on conflict (monitor_id, location) do update
    set interval_seconds = excluded.interval_seconds, phase_ms = excluded.phase_ms,
      timeout_seconds = excluded.timeout_seconds,
      -- A shorter interval counts from now on; a longer one from the next check on.
      planned_at = least(s.planned_at, excluded.planned_at + excluded.interval_seconds * interval '1 second'),
      due_at = least(s.due_at, excluded.planned_at + excluded.interval_seconds * interval '1 second'),
      -- A running check would plan the next one by the former interval. It loses its claim, and is repeated.
      lease = 0
    -- Most changes of an account change nothing here, and it can have thousands of entries.
    where (s.interval_seconds, s.phase_ms, s.timeout_seconds)
      is distinct from (excluded.interval_seconds, excluded.phase_ms, excluded.timeout_seconds)`;
}

/** Options of a claim. */
interface ClaimOptions {
  readonly now: Date;
  /** Maximum number of schedule entries. */
  readonly most: number;
  /** Number that identifies this claim; never used before. */
  readonly lease: number;
  /** Id of the replica that claims, so that others can end the claim when it is gone; absent: they wait until it ends. */
  readonly claimedBy?: string;
  /** Time in milliseconds beyond a check's timeout after which another replica repeats it. */
  readonly graceMs: number;
  /**
   * Locations whose shared agents are not attached here. Their schedule entries are left alone until they are an
   * interval late.
   */
  readonly absent: readonly string[];
  /**
   * Those of them whose schedule entries are claimed once they are an interval late, because no replica can serve them.
   */
  readonly withoutAgent: readonly string[];
  /** Accounts with agents of their own: their schedule entries are claimed at every location. */
  readonly privateAccounts: readonly number[];
  /** Accounts whose schedule entries are left alone, because too many of their checks run. */
  readonly fullAccounts: readonly number[];
}

/**
 * Claims due schedule entries, the most overdue first. Schedule entries that another replica claims at the same time
 * are left to it.
 *
 * The conditions with arrays repeat those of the joins. For a limit that it does not know the planner expects a tenth
 * of the table and reads whole tables; for an array it expects a few rows and uses the indexes.
 */
export async function claimEntries(sql: Sql, options: ClaimOptions): Promise<readonly ClaimedEntry[]> {
  const { now, most, lease, claimedBy = null, graceMs, absent, withoutAgent, privateAccounts, fullAccounts } = options;
  return sql<ClaimedEntry[]>`
    with due as (
      select monitor_id, location from monitor_slots
      where due_at <= ${now} and (lease = 0 or lease_ends_at <= ${now}) and account_id <> all(${[...fullAccounts]}::bigint[]) and (
        location <> all(${[...absent]}::text[]) or account_id = any(${[...privateAccounts]}::bigint[])
        or (location = any(${[...withoutAgent]}::text[]) and planned_at <= ${now}::timestamptz - interval_seconds * interval '1 second')
      )
      order by due_at limit ${most} for update skip locked
    ), claimed as (
      update monitor_slots as s
      set lease = ${lease}, claimed_by = ${claimedBy},
        lease_ends_at = ${now}::timestamptz + (s.timeout_seconds * 1000 + ${graceMs}::integer) * interval '1 millisecond'
      from due where s.monitor_id = due.monitor_id and s.location = due.location
        and s.monitor_id = any(array(select monitor_id from due))
      returning s.*
    )
    select c.monitor_id as "monitorId", c.location, c.account_id as "accountId", c.lease,
      array(select s.location from monitor_slots as s where s.monitor_id = c.monitor_id) as "plannedLocations",
      c.interval_seconds as "intervalSeconds", c.phase_ms as "phaseMs", c.planned_at as "plannedAt",
      c.extra_at as "extraAt", c.is_requested as "isRequested", m.url, m.check_type as "checkType", m.settings, m.secrets,
      m.version, t.state, t.state_version as "stateVersion"
    from claimed as c join monitors as m on m.id = c.monitor_id join monitor_states as t on t.monitor_id = c.monitor_id
    where m.id = any(array(select monitor_id from due)) and t.monitor_id = any(array(select monitor_id from due))`;
}

/** A claimed schedule entry to give back without a check. */
export interface ReleasedEntry extends Pick<ClaimedEntry, "monitorId" | "location" | "lease"> {
  /** When it can be claimed again; null: at once, and as early as before, so that others do not overtake it. */
  readonly dueAt: Date | null;
}

/** Gives claimed schedule entries back. Those that were claimed again meanwhile are left alone. */
export async function releaseEntries(sql: Sql, entries: readonly ReleasedEntry[]): Promise<void> {
  await sql`
    with held as (
      select s.monitor_id, s.location, given.due_at from monitor_slots as s
      join ${given(sql, entries, { monitorId: "bigint", location: "text", lease: "bigint", dueAt: "timestamptz" })}
        on s.monitor_id = given.monitor_id and s.location = given.location and s.lease = given.lease
      order by s.monitor_id, s.location for update of s
    )
    update monitor_slots as s
    set lease = 0, due_at = coalesce(held.due_at, least(s.planned_at, s.extra_at))
    from held where s.monitor_id = held.monitor_id and s.location = held.location`;
}

/** The state of a monitor, and what the schedule knows about it. */
interface ScheduledState {
  readonly monitorId: number;
  /** Text of state/encoding.ts. */
  readonly state: string;
  readonly lastCheckedAt: Date | null;
  /** null: none is planned, because the monitor is paused. */
  readonly nextCheckAt: Date | null;
  /** How much later than planned the newest check began, in milliseconds. */
  readonly lagMs: number | null;
}

/** Reads the states and the schedules of monitors. Deleted monitors are missing. */
export async function readScheduledStates(
  sql: Queryable,
  monitorIds: readonly number[],
): Promise<readonly ScheduledState[]> {
  return sql<ScheduledState[]>`
    select t.monitor_id as "monitorId", t.state, greatest(t.last_checked_at, max(s.checked_at)) as "lastCheckedAt",
      min(s.planned_at) as "nextCheckAt", (array_agg(s.lag_ms order by s.checked_at desc nulls last))[1] as "lagMs"
    from monitor_states as t left join monitor_slots as s using (monitor_id)
    where t.monitor_id = any(${[...monitorIds]}::bigint[]) group by t.monitor_id`;
}
