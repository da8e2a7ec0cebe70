import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { hourOf } from "#control-plane/outages/history/aggregate-store.ts";
import { isoTimes } from "#control-plane/outages/history/period.ts";

/** A UTC day to delete of deleted monitors. */
interface DayOfDeleted {
  readonly day: Date;
  readonly monitorIds: readonly number[];
}

/**
 * Returns the oldest UTC day that deleted monitors can have history of, with up to `limit` of these monitors, which are
 * locked until the transaction ends. null if there are none, or another replica has them.
 */
export async function lockOldestDay(tx: Transaction, limit: number): Promise<DayOfDeleted | null> {
  const rows = await tx<{ day: Date; monitorId: number }[]>`
    select next_day as day, monitor_id as "monitorId" from deleted_monitors
    where next_day = (select min(next_day) from deleted_monitors)
    order by monitor_id limit ${limit} for update skip locked`;
  const [first] = rows;
  return first === undefined ? null : { day: first.day, monitorIds: rows.map(({ monitorId }) => monitorId) };
}

/** Deletes the checks of monitors in these hours of one day, and their roll-up by hour. */
export async function deleteDay(tx: Queryable, hours: readonly Date[], monitorIds: readonly number[]): Promise<void> {
  const ids = tx`${[...monitorIds]}::bigint[]`;
  const wanted = tx`${isoTimes(hours)}::timestamptz[]`;
  await tx`
    delete from checks where ${hourOf(tx)} = any(${wanted}) and monitor_id = any(${ids})
      and checked_at >= ${hours[0] ?? null} and checked_at < ${hours.at(-1) ?? null}::timestamptz + interval '1 hour'`;
  await tx`delete from check_hours where hour = any(${wanted}) and monitor_id = any(${ids})`;
}

/** Moves monitors on to the next day to delete. */
export async function moveTo(tx: Queryable, monitorIds: readonly number[], nextDay: Date): Promise<void> {
  await tx`
    update deleted_monitors set next_day = ${nextDay} where monitor_id = any(${[...monitorIds]}::bigint[])`;
}

/** Deletes what is left of monitors once all their days are deleted. */
export async function forgetMonitors(tx: Queryable, monitorIds: readonly number[]): Promise<void> {
  const ids = tx`${[...monitorIds]}::bigint[]`;
  await tx`delete from check_days where monitor_id = any(${ids})`;
  await tx`delete from monitor_days where monitor_id = any(${ids})`;
  await tx`delete from late_hours where monitor_id = any(${ids})`;
  await tx`delete from deleted_monitors where monitor_id = any(${ids})`;
}
