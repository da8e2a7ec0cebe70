import type { Queryable, SqlFragment } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { countChecks, hourOf, type CountedChecks } from "#control-plane/outages/history/aggregate-store.ts";
import type { TimeByStatus } from "#control-plane/outages/history/timeline.ts";
import { HOUR_MS, isoTimes } from "#control-plane/outages/history/period.ts";

/** A row of a point, or a part of it. */
export type PointRow = Omit<CountedChecks, "monitorId">;

/** Counts checks of a monitor in these hours, each named by its beginning, in periods of some minutes or an hour. */
export async function countHours(
  sql: Queryable,
  monitorId: number,
  hours: readonly Date[],
  periodMs: number,
): Promise<readonly PointRow[]> {
  if (hours.length === 0) return [];
  const minutes = `${periodMs / 60_000} minutes`;
  const at = sql`date_bin(${minutes}::interval, checked_at, timestamptz '2000-01-01 00:00:00+00')`;
  return sql<PointRow[]>`
    select at, location, up, down, unknown, response_ms as "responseMs"
    from (${countChecks(sql, at, sql`${inHours(sql, hours)} and monitor_id = ${monitorId}`)}) as counted`;
}

/** Reads the roll-up of a monitor by hour, from `from` to before `to`; both are beginnings of hours. */
export async function readHours(
  sql: Queryable,
  monitorId: number,
  hours: readonly Date[],
): Promise<readonly PointRow[]> {
  if (hours.length === 0) return [];
  return sql<PointRow[]>`
    select hour as at, location, up, down, unknown, response_ms as "responseMs"
    from check_hours where hour = any(${isoTimes(hours)}::timestamptz[]) and monitor_id = ${monitorId}`;
}

/** Reads the roll-up of a monitor by day, from `from` to before `to`. */
export async function readDays(sql: Queryable, monitorId: number, from: Date, to: Date): Promise<readonly PointRow[]> {
  return sql<PointRow[]>`
    select day as at, location, up, down, unknown, response_ms as "responseMs"
    from check_days where monitor_id = ${monitorId} and day >= ${from} and day < ${to}`;
}

/** Histograms of a monitor's response times; encoded, to be merged. */
export interface MonitorHistogram {
  readonly monitorId: number;
  readonly responseMs: Uint8Array;
}

/** Reads the histograms of monitors in these hours of the roll-up. */
export async function readHistograms(
  sql: Queryable,
  monitorIds: readonly number[],
  hours: readonly Date[],
): Promise<readonly MonitorHistogram[]> {
  if (hours.length === 0) return [];
  return sql<MonitorHistogram[]>`
    select monitor_id as "monitorId", string_agg(response_ms, '') as "responseMs" from check_hours
    where ${inRollUp(sql, monitorIds, hours)}
    group by monitor_id having count(response_ms) > 0`;
}

/** Computes the histograms of monitors in these hours from their checks. */
export async function countHistograms(
  sql: Queryable,
  monitorIds: readonly number[],
  hours: readonly Date[],
): Promise<readonly MonitorHistogram[]> {
  if (hours.length === 0) return [];
  const where = sql`${inHours(sql, hours)} and monitor_id = any(${[...monitorIds]}::bigint[])`;
  return sql<MonitorHistogram[]>`
    select monitor_id as "monitorId", string_agg(response_ms, '') as "responseMs"
    from (${countChecks(sql, hourOf(sql), where)}) as counted
    group by monitor_id having count(response_ms) > 0`;
}

/** An encoded histogram of a monitor's response times in one hour. */
interface HourHistogram extends MonitorHistogram {
  readonly at: Date;
}

/** Reads the histograms of monitors in each of these hours of the roll-up, all locations together. */
export async function readHourHistograms(
  sql: Queryable,
  monitorIds: readonly number[],
  hours: readonly Date[],
): Promise<readonly HourHistogram[]> {
  if (hours.length === 0) return [];
  return sql<HourHistogram[]>`
    select monitor_id as "monitorId", hour as at, string_agg(response_ms, '') as "responseMs" from check_hours
    where ${inRollUp(sql, monitorIds, hours)}
    group by monitor_id, hour having count(response_ms) > 0`;
}

/** Successful checks of a monitor in one hour, and those of them that were slow. */
export interface SlowHour {
  readonly monitorId: number;
  readonly at: Date;
  readonly up: number;
  readonly slow: number;
}

/** Reads the hours of the roll-up, of these, in which checks of monitors were slow. */
export async function readSlowHours(
  sql: Queryable,
  monitorIds: readonly number[],
  hours: readonly Date[],
): Promise<readonly SlowHour[]> {
  if (hours.length === 0) return [];
  // Few hours have a slow check: only those are grouped, with their rows of all locations.
  const wanted = inRollUp(sql, monitorIds, hours);
  return sql<SlowHour[]>`
    select monitor_id as "monitorId", hour as at, sum(up)::integer as up, sum(slow)::integer as slow from check_hours
    where ${wanted} and (hour, monitor_id) in (select hour, monitor_id from check_hours where ${wanted} and slow > 0)
    group by monitor_id, hour`;
}

/** Finds the hours, of these, in which checks of monitors were slow, from the checks. */
export async function countSlowHours(
  sql: Queryable,
  monitorIds: readonly number[],
  hours: readonly Date[],
): Promise<readonly SlowHour[]> {
  if (hours.length === 0) return [];
  return sql<SlowHour[]>`
    select monitor_id as "monitorId", at, count(*)::integer as up, (count(*) filter (where status = 4))::integer as slow
    from (
      select monitor_id, ${hourOf(sql)} as at, status from checks
      where ${inHours(sql, hours)} and monitor_id = any(${[...monitorIds]}::bigint[])
        and status in (1, 4) and not is_recheck
    ) as one group by monitor_id, at having count(*) filter (where status = 4) > 0`;
}

/** Sums the time by status of monitors over whole days, from each of `firstDays` to before `openDay`. */
export async function sumDays(
  sql: Queryable,
  monitorIds: readonly number[],
  firstDays: readonly Date[],
  openDay: Date,
): Promise<
  readonly (Pick<TimeByStatus, "upMs" | "downMs"> & { readonly monitorId: number; readonly index: number })[]
> {
  return sql`
    select monitor_id as "monitorId", (first.n - 1)::integer as index,
      sum(up_ms)::bigint as "upMs", sum(down_ms)::bigint as "downMs"
    from unnest(${isoTimes(firstDays)}::timestamptz[]) with ordinality as first (day, n)
    join monitor_days as d on d.monitor_id = any(${[...monitorIds]}::bigint[])
      and d.day >= first.day and d.day < ${openDay}
    group by monitor_id, first.n`;
}

/** Time by status of one monitor on one day of the roll-up. */
interface DayTime extends TimeByStatus {
  readonly monitorId: number;
  readonly day: Date;
}

/** Reads the time by status of monitors on whole days, from `first` to before `openDay`. */
export async function readDayTimes(
  sql: Queryable,
  monitorIds: readonly number[],
  first: Date,
  openDay: Date,
): Promise<readonly DayTime[]> {
  return sql<DayTime[]>`
    select monitor_id as "monitorId", day, up_ms as "upMs", down_ms as "downMs", unknown_ms as "unknownMs",
      maintenance_ms as "maintenanceMs"
    from monitor_days
    where monitor_id = any(${[...monitorIds]}::bigint[]) and day >= ${first} and day < ${openDay}`;
}

/**
 * Finds the response time of the newest successful check of each monitor in the hour of its newest check, given with
 * it, and in the hour before. Monitors without one are missing.
 */
export async function findLastResponses(
  sql: Queryable,
  monitors: readonly { readonly id: number; readonly lastCheckedAt: Date }[],
): Promise<readonly { readonly monitorId: number; readonly responseMs: number }[]> {
  const times = monitors.map(({ lastCheckedAt }) => lastCheckedAt.getTime());
  // The bounds of the whole let the planner ignore partitions; those of each hour let every look-up open only one.
  const within = sql`checked_at >= ${new Date(Math.min(...times) - 2 * HOUR_MS)}
    and checked_at < ${new Date(Math.max(...times) + HOUR_MS)}`;
  const hour = sql`date_bin('1 hour', given.last_checked_at, timestamptz '2000-01-01 00:00:00+00')`;
  // Of the two parts, the second is read only if the first has no row.
  return sql`
    select given.id as "monitorId", newest.response_ms as "responseMs"
    from ${given(sql, monitors, { id: "bigint", lastCheckedAt: "timestamptz" })}
    cross join lateral (
      (${lastOfHour(sql, hour, within)}) union all (${lastOfHour(sql, sql`${hour} - interval '1 hour'`, within)})
      limit 1
    ) as newest`;
}

/** The newest successful check of monitor given.id in an hour. */
function lastOfHour(sql: Queryable, hour: SqlFragment, within: SqlFragment): SqlFragment {
  return sql`
    select response_ms from checks
    where ${hourOf(sql)} = ${hour} and monitor_id = given.id and ${within} and checked_at >= ${hour}
      and checked_at < ${hour} + interval '1 hour' and status in (1, 4) and response_ms is not null
    order by checked_at desc, id desc limit 1`;
}

/** Condition on table checks: those of the given hours. The bounds let the planner ignore other partitions. */
function inHours(sql: Queryable, hours: readonly Date[]): SqlFragment {
  return sql`${hourOf(sql)} = any(${isoTimes(hours)}::timestamptz[]) and checked_at >= ${hours[0] ?? null}
    and checked_at < ${hours.at(-1) ?? null}::timestamptz + interval '1 hour'`;
}

/** Returns the condition of the rows of the roll-up that are of these monitors and hours. */
function inRollUp(sql: Queryable, monitorIds: readonly number[], hours: readonly Date[]) {
  return sql`hour = any(${isoTimes(hours)}::timestamptz[]) and monitor_id = any(${[...monitorIds]}::bigint[])`;
}
