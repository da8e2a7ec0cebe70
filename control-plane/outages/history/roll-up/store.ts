import type { Queryable, Sql, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { countChecks, hourOf, type CountedChecks } from "#control-plane/outages/history/aggregate-store.ts";
import type { HistoryMonitor } from "#control-plane/outages/history/ports.ts";
import type { TimeByStatus } from "#control-plane/outages/history/timeline.ts";
import { isoTimes } from "#control-plane/outages/history/period.ts";

/** The position of a roll-up: monitors below `nextMonitor` are complete in the hour or day that begins at `openFrom`. */
export interface Position {
  /** null if nothing was ever computed. */
  readonly openFrom: Date | null;
  readonly nextMonitor: number;
}

/** One of the two roll-ups. */
type RollUp = "hours" | "days";

/** Locks the position of a roll-up until the transaction ends. null: another replica has it. */
export async function lockPosition(tx: Transaction, rollUp: RollUp): Promise<Position | null> {
  const [row] = await tx<Position[]>`
    select open_from as "openFrom", next_monitor as "nextMonitor" from history_progress
    where name = ${rollUp} for update skip locked`;
  return row ?? null;
}

/** Moves the position of a roll-up, which the transaction has locked. */
export async function movePosition(tx: Transaction, rollUp: RollUp, position: Position): Promise<void> {
  await tx`
    update history_progress set open_from = ${position.openFrom}, next_monitor = ${position.nextMonitor}
    where name = ${rollUp}`;
}

/** Moves the roll-up by day back to a day, if it is at it or after it, or was never computed. */
export async function moveDaysBack(tx: Transaction, day: Date): Promise<void> {
  await tx`
    update history_progress set open_from = ${day}, next_monitor = 0
    where name = 'days' and (open_from is null or open_from >= ${day})`;
}

/** Returns when the oldest check began; null if there is none. It reads every check: for the first run only. */
export async function findOldestCheck(tx: Transaction): Promise<Date | null> {
  const [row] = await tx<{ oldest: Date | null }[]>`select min(checked_at) as oldest from checks`;
  return row?.oldest ?? null;
}

/** Returns the beginning of the first hour with checks from `hour` on; null if there is none. */
export async function findNextHour(tx: Transaction, hour: Date): Promise<Date | null> {
  const [row] = await tx<{ next: Date }[]>`
    select ${hourOf(tx)} as next from checks
    where ${hourOf(tx)} >= ${hour} and checked_at >= ${hour} order by ${hourOf(tx)} limit 1`;
  return row?.next ?? null;
}

/** Deletes the roll-up of hours from `hour` on, and of days from `day` on. */
export async function deleteFrom(tx: Transaction, hour: Date, day: Date): Promise<void> {
  await tx`delete from check_hours where hour >= ${hour}`;
  await tx`delete from check_days where day >= ${day}`;
  await tx`delete from monitor_days where day >= ${day}`;
}

/** The next monitors of an hour. */
interface Chunk {
  /** The largest id; null if there are none. */
  readonly last: number | null;
  readonly count: number;
}

/** Finds the next `limit` monitors from the id `first` on. */
export async function findChunk(tx: Transaction, first: number, limit: number): Promise<Chunk> {
  const [row] = await tx<Chunk[]>`
    select max(id) as last, count(*) as count
    from (select id from monitors where id >= ${first} order by id limit ${limit}) as chunk`;
  return row ?? { last: null, count: 0 };
}

/** Computes one hour for the monitors with ids from `first` to `last` from their checks. */
export async function insertHour(tx: Transaction, hour: Date, first: number, last: number): Promise<void> {
  // The checks of many monitors are spread over all pages of the hour. A bitmap reads each page once; an index scan,
  // which the planner prefers while its statistics do not know the hour, reads a page for each check.
  await tx`set local enable_indexscan = off`;
  const where = tx`${inHour(tx, hour)} and monitor_id between ${first} and ${last}`;
  await tx`
    insert into check_hours (hour, monitor_id, location, up, down, unknown, response_ms, slow)
    ${countChecks(tx, hourOf(tx), where)}`;
  await tx`set local enable_indexscan = on`;
}

/**
 * Computes one hour for these monitors again. Late checks only add to it, so rows whose checks were deleted after their
 * retention stay as they are.
 */
export async function recomputeHour(tx: Transaction, hour: Date, monitorIds: readonly number[]): Promise<void> {
  const where = tx`${inHour(tx, hour)} and monitor_id = any(${[...monitorIds]}::bigint[])`;
  await tx`
    insert into check_hours (hour, monitor_id, location, up, down, unknown, response_ms, slow)
    ${countChecks(tx, hourOf(tx), where)}
    on conflict (hour, monitor_id, location) do update set up = excluded.up, down = excluded.down,
      unknown = excluded.unknown, response_ms = excluded.response_ms, slow = excluded.slow`;
}

function inHour(tx: Transaction, hour: Date): SqlFragment {
  return tx`${hourOf(tx)} = ${hour} and checked_at >= ${hour} and checked_at < ${hour}::timestamptz + interval '1 hour'`;
}

/** Reads the roll-up by hour of monitors in these hours. */
export async function readHoursOfDay(
  tx: Queryable,
  hours: readonly Date[],
  monitorIds: readonly number[],
): Promise<readonly Omit<CountedChecks, "at">[]> {
  return tx<Omit<CountedChecks, "at">[]>`
    select monitor_id as "monitorId", location, up, down, unknown, response_ms as "responseMs" from check_hours
    where hour = any(${isoTimes(hours)}::timestamptz[]) and monitor_id = any(${[...monitorIds]}::bigint[])`;
}

/** Lists the next monitors from `first` on that were created before `end`. */
export async function readChunk(
  tx: Queryable,
  first: number,
  end: Date,
  limit: number,
): Promise<readonly HistoryMonitor[]> {
  return tx<HistoryMonitor[]>`
    select id, account_id as "accountId", tags, created_at as "createdAt" from monitors
    where id >= ${first} and created_at < ${end} order by id limit ${limit}`;
}

/** Returns those of these monitors that exist and were created before `end`, ordered by id. */
export async function readMonitors(
  tx: Queryable,
  monitorIds: readonly number[],
  end: Date,
): Promise<readonly HistoryMonitor[]> {
  return tx<HistoryMonitor[]>`
    select id, account_id as "accountId", tags, created_at as "createdAt" from monitors
    where id = any(${[...monitorIds]}::bigint[]) and created_at < ${end} order by id`;
}

/** A mark on an hour of a monitor that has to be computed again. */
export interface LateHour {
  readonly hour: Date;
  readonly monitorId: number;
}

/** Takes up to `limit` marks away, those of the oldest hours first. */
export async function takeLateHours(tx: Transaction, limit: number): Promise<readonly LateHour[]> {
  return tx<LateHour[]>`
    delete from late_hours where (hour, monitor_id) in (
      select hour, monitor_id from late_hours order by hour, monitor_id limit ${limit} for update skip locked
    ) returning hour, monitor_id as "monitorId"`;
}

/** Writes counted checks of one day, in place of what was computed before. */
export async function replaceDays(
  tx: Queryable,
  day: Date,
  monitorIds: readonly number[],
  counted: readonly Omit<CountedChecks, "at">[],
): Promise<void> {
  await tx`delete from check_days where monitor_id = any(${[...monitorIds]}::bigint[]) and day = ${day}`;
  if (counted.length === 0) return;
  await tx`
    insert into check_days (day, monitor_id, location, up, down, unknown, response_ms)
    select ${day}::timestamptz, given.* from ${given(tx, counted, {
      monitorId: "bigint",
      location: "text",
      up: "integer",
      down: "integer",
      unknown: "integer",
      responseMs: "bytea",
    })}`;
}

/** Time by status of one monitor on one day. */
interface MonitorDay extends TimeByStatus {
  readonly monitorId: number;
}

/** Writes the time by status on one day, in place of what was computed before. */
export async function replaceTimes(tx: Queryable, day: Date, times: readonly MonitorDay[]): Promise<void> {
  if (times.length === 0) return;
  await tx`
    insert into monitor_days (day, monitor_id, up_ms, down_ms, unknown_ms, maintenance_ms)
    select ${day}::timestamptz, given.* from ${given(tx, times, {
      monitorId: "bigint",
      upMs: "integer",
      downMs: "integer",
      unknownMs: "integer",
      maintenanceMs: "integer",
    })}
    on conflict (monitor_id, day) do update set up_ms = excluded.up_ms, down_ms = excluded.down_ms,
      unknown_ms = excluded.unknown_ms, maintenance_ms = excluded.maintenance_ms`;
}

/** Deletes what these monitors have from before `cutoff`: days, and changes of status that a later one replaced. */
export async function deleteOldDays(tx: Queryable, monitorIds: readonly number[], cutoff: Date): Promise<void> {
  const ids = tx`select unnest(${[...monitorIds]}::bigint[]) as id`;
  await tx`delete from check_days using (${ids}) as given where monitor_id = given.id and day < ${cutoff}`;
  await tx`delete from monitor_days using (${ids}) as given where monitor_id = given.id and day < ${cutoff}`;
  await tx`
    delete from monitor_status_changes as old using (${ids}) as given
    where old.monitor_id = given.id and old.at < ${cutoff} and exists (
      select from monitor_status_changes as newer where newer.monitor_id = old.monitor_id
        and newer.at < ${cutoff} and (newer.at, newer.id) > (old.at, old.id)
    )`;
}

/** Deletes up to `limit` rows of the roll-up of hours from before `cutoff`. Returns how many. */
export async function deleteOldHours(sql: Sql, cutoff: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from check_hours where ctid = any(array(
      select ctid from check_hours where hour < ${cutoff} limit ${limit}
    ))`;
  return count;
}
