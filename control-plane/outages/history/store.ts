import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { isoTimes, DAY_MS, HOUR_MS, startOf, type Span } from "#control-plane/outages/history/period.ts";
import type { Status, StatusChange } from "#control-plane/outages/history/timeline.ts";
import { hourOf } from "#control-plane/outages/history/aggregate-store.ts";

/** Numbers of statuses in the tables monitor_status_changes and checks. */
const NUMBER_OF = { up: 1, down: 2, unknown: 3 } as const satisfies Record<Status, number>;
const STATUS_OF: Readonly<Record<number, Status>> = { 1: "up", 2: "down", 3: "unknown" };

/** A new status of a monitor from a time on. */
export interface NewChange {
  readonly monitorId: number;
  readonly at: Date;
  readonly status: Status;
}

/**
 * Inserts changes, at most one of each monitor. Changes of a monitor that lie after it were recorded while the clock was
 * ahead: they move to its time, so that the change recorded last is the last in time.
 */
export async function insertChanges(tx: Queryable, changes: readonly NewChange[]): Promise<void> {
  await tx`
    with given as (
      select * from ${given(
        tx,
        changes.map((change) => ({ ...change, status: NUMBER_OF[change.status] })),
        { monitorId: "bigint", at: "timestamptz", status: "smallint" },
      )}
    ), later as (
      update monitor_status_changes as c set at = given.at
      from given where c.monitor_id = given.monitor_id and c.at > given.at
    )
    insert into monitor_status_changes (monitor_id, at, status) select monitor_id, at, status from given`;
}

/** Marks hours of monitors for another roll-up, each named by its beginning. A mark can exist. */
export async function markHours(
  tx: Queryable,
  marks: readonly { readonly monitorId: number; readonly hour: Date }[],
): Promise<void> {
  // An update locks an existing mark until the caller's rows are visible to the roll-up that takes it.
  await tx`
    insert into late_hours (hour, monitor_id)
    select distinct hour, monitor_id from ${given(tx, marks, { hour: "timestamptz", monitorId: "bigint" })}
    order by hour, monitor_id
    on conflict (hour, monitor_id) do update set hour = excluded.hour`;
}

/** A span of a monitor's life. */
export interface MonitorSpan extends Span {
  readonly monitorId: number;
}

/**
 * Reads the changes within each span, in ascending order and after the newest change at or before its beginning. The
 * result has one list for each span.
 */
export async function readChanges(
  sql: Queryable,
  spans: readonly MonitorSpan[],
): Promise<readonly (readonly StatusChange[])[]> {
  const lists: StatusChange[][] = spans.map(() => []);
  if (spans.length === 0) return lists;
  const rows = await sql<{ index: number; at: Date; status: number }[]>`
    select (span.n - 1)::integer as index, change.at, change.status from ${given(
      sql,
      spans.map(({ monitorId, from, to }) => ({ monitorId, fromAt: from, toAt: to })),
      { monitorId: "bigint", fromAt: "timestamptz", toAt: "timestamptz" },
      { as: "span", ordinality: "n" },
    )}
    cross join lateral (
      (
        select at, id, status from monitor_status_changes
        where monitor_id = span.monitor_id and at <= span.from_at order by at desc, id desc limit 1
      ) union all (
        select at, id, status from monitor_status_changes
        where monitor_id = span.monitor_id and at > span.from_at and at < span.to_at
      )
    ) as change order by span.n, change.at, change.id`;
  for (const { index, at, status } of rows) {
    lists[index]?.push({ at: at.getTime(), status: STATUS_OF[status] ?? "unknown" });
  }
  return lists;
}

/** Reads the newest changes of a monitor, newest first. */
export async function readNewestChanges(
  sql: Queryable,
  monitorId: number,
  limit: number,
): Promise<readonly StatusChange[]> {
  const rows = await sql<{ at: Date; status: number }[]>`
    select at, status from monitor_status_changes
    where monitor_id = ${monitorId} order by at desc, id desc limit ${limit}`;
  return rows.map(({ at, status }) => ({ at: at.getTime(), status: STATUS_OF[status] ?? "unknown" }));
}

/** Counts the changes of a monitor. */
export async function countChanges(sql: Queryable, monitorId: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from monitor_status_changes where monitor_id = ${monitorId}`;
  return row?.total ?? 0;
}

/** A recorded check. */
export interface StoredCheck {
  readonly id: number;
  readonly checkedAt: Date;
  readonly location: string;
  /** 1 up, 2 down, 3 unknown, 4 degraded. */
  readonly status: number;
  readonly responseMs: number | null;
  readonly httpStatus: number | null;
  /** JSON {stage, source, reason, message}. */
  readonly fault: string | null;
}

/** Returns the newest checks of a monitor among those of the given hours, each named by its beginning. */
export async function readNewest(
  sql: Queryable,
  monitorId: number,
  hours: readonly Date[],
  limit: number,
): Promise<readonly StoredCheck[]> {
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined) return [];
  // The bounds of the whole let the planner ignore partitions; those of each hour let every look-up open only one.
  return sql<StoredCheck[]>`
    select found.id, found.checked_at as "checkedAt", found.location, found.status, found.response_ms as "responseMs",
      found.http_status as "httpStatus", found.fault
    from unnest(${isoTimes(hours)}::timestamptz[]) as wanted (hour) cross join lateral (
      select * from checks
      where ${hourOf(sql)} = wanted.hour and monitor_id = ${monitorId}
        and checked_at >= wanted.hour and checked_at < wanted.hour + interval '1 hour'
        and checked_at >= ${first} and checked_at < ${last}::timestamptz + interval '1 hour'
      order by checked_at desc, id desc limit ${limit}
    ) as found order by found.checked_at desc, found.id desc limit ${limit}`;
}

/** Which checks findChecks finds; null: all. */
interface WantedChecks {
  readonly monitorId: number;
  readonly hours: readonly Date[];
  readonly location: string | null;
  /** 1 up, 2 down, 3 unknown, 4 degraded. */
  readonly status: number | null;
  /** Before, and after, this check: its time in Unix milliseconds and its id. */
  readonly before: { readonly at: number; readonly id: number } | null;
  readonly after: { readonly at: number; readonly id: number } | null;
  readonly limit: number;
  readonly isNewer: boolean;
}

/** Finds checks of a monitor in these hours, each named by its beginning: the newest first, or the oldest if isNewer. */
export async function findChecks(
  sql: Queryable,
  { monitorId, hours, location, status, before, after, limit, isNewer }: WantedChecks,
): Promise<readonly StoredCheck[]> {
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined) return [];
  const order = isNewer ? sql`asc` : sql`desc`;
  const [until, since] = [before === null ? null : new Date(before.at), after === null ? null : new Date(after.at)];
  // The bounds are as in readNewest: of the whole for the planner, of each hour for one partition a look-up.
  return sql<StoredCheck[]>`
    select found.id, found.checked_at as "checkedAt", found.location, found.status, found.response_ms as "responseMs",
      found.http_status as "httpStatus", found.fault
    from unnest(${isoTimes(hours)}::timestamptz[]) as wanted (hour) cross join lateral (
      select * from checks
      where ${hourOf(sql)} = wanted.hour and monitor_id = ${monitorId}
        and checked_at >= wanted.hour and checked_at < wanted.hour + interval '1 hour'
        and checked_at >= ${first} and checked_at < ${last}::timestamptz + interval '1 hour'
        ${location === null ? sql`` : sql`and location = ${location}`}
        ${status === null ? sql`` : sql`and status = ${status}`}
        ${until === null ? sql`` : sql`and (checked_at, id) < (${until}::timestamptz, ${before?.id ?? 0}::bigint)`}
        ${since === null ? sql`` : sql`and (checked_at, id) > (${since}::timestamptz, ${after?.id ?? 0}::bigint)`}
      order by checked_at ${order}, id ${order} limit ${limit}
    ) as found order by found.checked_at ${order}, found.id ${order} limit ${limit}`;
}

/** Returns the beginnings of the newest days of the roll-up that together hold at least `limit` checks of a monitor. */
export async function readDaysOfChecks(sql: Sql, monitorId: number, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ day: Date }[]>`
    select day from (
      select day, sum(sum(up + down + unknown)) over (order by day desc) - sum(up + down + unknown) as newer
      from (
        select * from check_days where monitor_id = ${monitorId} order by day desc limit ${limit * 50}
      ) as newest group by day
    ) as counted where newer < ${limit} order by day`;
  return rows.map(({ day }) => day.getTime());
}

/** How far the roll-ups are: beginnings of the first hour and day that are not complete, in Unix milliseconds. */
export interface Progress {
  /** -Infinity: no hour was ever computed. */
  readonly openHour: number;
  readonly openDay: number;
}

/**
 * Reads how far the roll-ups are. The running hour and day are never complete, also if they were computed while the
 * clock was ahead.
 */
export async function readProgress(sql: Queryable, now: Date): Promise<Progress> {
  const rows = await sql<{ name: string; openFrom: Date | null }[]>`
    select name, open_from as "openFrom" from history_progress`;
  const openFrom = (wanted: string) =>
    rows.find(({ name }) => name === wanted)?.openFrom?.getTime() ?? Number.NEGATIVE_INFINITY;
  const openHour = Math.min(openFrom("hours"), startOf(now.getTime(), HOUR_MS));
  return { openHour, openDay: Math.min(openFrom("days"), startOf(openHour, DAY_MS)) };
}
