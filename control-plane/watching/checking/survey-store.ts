import type { Queryable } from "#control-plane/core/database/connect.ts";
import { UNPROBED_TYPES } from "#control-plane/outages/kinds/kinds.ts";

/** Monitors that something affects. */
export interface Affected {
  readonly monitorCount: number;
  /** The smallest ids, at most as many as were asked for. */
  readonly monitorIds: readonly number[];
}

/** A location that active monitors check from. */
export interface CheckedLocation {
  readonly location: string;
  /** An account with agents of its own; 0: all the others. */
  readonly accountId: number;
}

/**
 * Lists the locations of active monitors, apart for each of the accounts with agents of their own.
 *
 * A location has thousands of schedule entries. The statement goes over the index from one location to the next, and of
 * each reads the schedule entries of those accounts and the first schedule entry of another one. Without the order, the
 * planner would search that in the table.
 */
export async function listLocations(
  sql: Queryable,
  privateAccounts: readonly number[],
): Promise<readonly CheckedLocation[]> {
  const own = sql`${[...privateAccounts]}::bigint[]`;
  return sql<CheckedLocation[]>`
    with recursive known as (
      (select location from monitor_slots order by location limit 1)
      union all
      select (
        select s.location from monitor_slots as s where s.location > known.location order by s.location limit 1
      )
      from known where known.location is not null
    )
    select known.location, 0::bigint as "accountId" from known cross join lateral (
      select from monitor_slots as s where s.location = known.location and s.account_id <> all(${own})
      order by s.account_id limit 1
    ) as shared
    union all
    select known.location, owned.account_id from known cross join lateral (
      select distinct s.account_id from monitor_slots as s
      where s.location = known.location and s.account_id = any(${own})
    ) as owned
    order by 1, 2`;
}

/** A location with the name of the group that it is counted in. */
interface GroupedLocation extends CheckedLocation {
  readonly group: string;
}

/** Counts the monitors of each group of locations. */
export async function countByGroup(
  sql: Queryable,
  locations: readonly GroupedLocation[],
  privateAccounts: readonly number[],
  most: number,
): Promise<readonly (Affected & { readonly group: string })[]> {
  return sql<(Affected & { group: string })[]>`
    select g.name as "group", count(distinct s.monitor_id) as "monitorCount",
      (array_agg(distinct s.monitor_id))[1:${most}] as "monitorIds"
    from unnest(
      ${locations.map(({ group }) => group)}::text[],
      ${locations.map(({ location }) => location)}::text[],
      ${locations.map(({ accountId }) => accountId)}::bigint[]
    ) as g (name, location, account_id)
    join monitor_slots as s on s.location = g.location and (s.account_id = g.account_id
      or (g.account_id = 0 and s.account_id <> all(${[...privateAccounts]}::bigint[])))
    group by 1`;
}

/** Counts the active monitors that need probes; heartbeats do not. */
export async function countActive(sql: Queryable, most: number): Promise<Affected> {
  const isProbed = sql`is_active and check_type <> all(${[...UNPROBED_TYPES]}::text[])`;
  return one(sql<Affected[]>`
    select (select count(*) from monitors where ${isProbed}) as "monitorCount",
      array(select id from monitors where ${isProbed} order by id limit ${most}) as "monitorIds"`);
}

/** Counts the active monitors whose changes are to be mailed. */
export async function countAskingForMail(sql: Queryable, most: number): Promise<Affected> {
  // The settings are written by JSON.stringify: inside of a string, the quotes would be escaped. The condition is that of
  // an index (0023).
  return one(sql<Affected[]>`
    select count(*) as "monitorCount",
      coalesce((array_agg(id order by id))[1:${most}], '{}') as "monitorIds"
    from monitors where is_active and settings like '%"notify_email":true%'`);
}

/** An active monitor that is checked from several locations and whose status is unknown. */
interface UnknownMonitor {
  readonly id: number;
  readonly accountId: number;
  /** The locations that it is checked from: those of its settings that the plan allows. */
  readonly locations: readonly string[];
  /** JSON of MonitorSettings. */
  readonly settings: string;
  /** JSON of MonitorState. */
  readonly state: string;
  readonly intervalSeconds: number;
  readonly updatedAt: Date;
}

/** Reads active monitors that are checked from several locations and are unknown, those with the smallest ids. */
export async function readUnknown(sql: Queryable, most: number): Promise<readonly UnknownMonitor[]> {
  return sql<UnknownMonitor[]>`
    select m.id, m.account_id as "accountId", s.locations, m.settings, t.state,
      s.interval_seconds as "intervalSeconds", m.updated_at as "updatedAt"
    from monitor_states as t join monitors as m on m.id = t.monitor_id
      cross join lateral (
        select max(interval_seconds) as interval_seconds, array_agg(location order by location) as locations
        from monitor_slots where monitor_id = m.id
      ) as s
    where t.status = 'unknown' and m.is_active and cardinality(s.locations) > 1
    order by m.id limit ${most}`;
}

/** A check without a verdict that is the newest of its monitor at its location. */
interface UnknownCheck {
  readonly monitorId: number;
  readonly accountId: number;
  readonly location: string;
  /** JSON of CheckFault; null: none. */
  readonly fault: string | null;
}

/** Reads the newest of the last `most` checks without a verdict since a time, newest first. */
export async function readUnknownChecks(
  sql: Queryable,
  { since, most }: { readonly since: Date; readonly most: number },
): Promise<readonly UnknownCheck[]> {
  return sql<UnknownCheck[]>`
    select c.monitor_id as "monitorId", s.account_id as "accountId", c.location, c.fault
    from (
      select monitor_id, location, checked_at, fault
      from checks where status = 3 and checked_at > ${since} order by checked_at desc limit ${most}
    ) as c
    join monitor_slots as s using (monitor_id, location, checked_at)
    order by c.checked_at desc`;
}

/** Schedule entries whose checks are due and do not run: no replica has claimed them, or that one is gone. */
export interface Overdue extends Affected {
  /** When the most overdue one was due; null if there is none. */
  readonly oldest: Date | null;
  /** Number of monitors with checks of a replica that is gone. */
  readonly orphaned: number;
  /** The newest time without any replica, if the most overdue one was due before its end; null if it was not. */
  readonly outage: { readonly startedAt: Date; readonly endedAt: Date } | null;
}

/** Counts the monitors with checks that were due before a time, at other locations than these; at most `limit` checks. */
export async function countOverdue(
  sql: Queryable,
  {
    now,
    before,
    except,
    most,
  }: { readonly now: Date; readonly before: Date; readonly except: readonly string[]; readonly most: number },
  limit: number,
): Promise<Overdue> {
  const { startedAt, endedAt, ...overdue } = await one(sql<
    (Omit<Overdue, "outage"> & { startedAt: Date | null; endedAt: Date | null })[]
  >`
    with late as (
      select s.monitor_id, s.due_at, s.is_claimed from (
        select monitor_id, due_at, claimed_by, lease <> 0 and lease_ends_at > ${now} as is_claimed from monitor_slots
        where due_at < ${before} and location <> all(${[...except]}::text[]) order by due_at limit ${limit}
      ) as s
      where not s.is_claimed or (
        s.claimed_by is not null and not exists (select from replicas as r where r.id = s.claimed_by)
      )
    ), summary as (
      select count(distinct monitor_id) as "monitorCount", min(due_at) as oldest,
        count(distinct monitor_id) filter (where is_claimed) as orphaned,
        coalesce((array_agg(distinct monitor_id))[1:${most}], '{}') as "monitorIds"
      from late
    )
    select summary.*, o.started_at as "startedAt", o.ended_at as "endedAt"
    from summary left join lateral (
      select started_at, ended_at from service_outages where ended_at > summary.oldest
      order by started_at desc limit 1
    ) as o on true`);
  return { ...overdue, outage: startedAt === null || endedAt === null ? null : { startedAt, endedAt } };
}

/** How far the upkeep of the history is. */
export interface HistoryLag {
  /** Hours before this one are computed; null: none was ever. */
  readonly openHour: Date | null;
  /** Whether checks are stored outside of the partition of their day. */
  readonly hasStrayChecks: boolean;
}

/** Reads how far the upkeep of the history is. */
export async function readHistoryLag(sql: Queryable): Promise<HistoryLag> {
  return one(sql<HistoryLag[]>`
    select (select open_from from history_progress where name = 'hours') as "openHour",
      exists (select from checks_default) as "hasStrayChecks"`);
}

async function one<T>(rows: Promise<readonly T[]>): Promise<T> {
  const [row] = await rows;
  if (row === undefined) throw new Error("a statement that returns one row returned none");
  return row;
}
