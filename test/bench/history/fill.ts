import type { Sql } from "#control-plane/core/database/connect.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { DAY_MS, HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";

/** Days of roll-ups before the newest check. */
const DAYS = 91;
/** Hours of roll-ups before the newest check. */
const HOURS = 30;
const KEPT = 3_650 * DAY_MS;

/** Inserts the checks of all monitors in `count` minutes from `from` on, Unix milliseconds. */
export async function insertMinutes(sql: Sql, from: number, count: number): Promise<void> {
  await sql`
    insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed)
    select id, ${new Date(from)}::timestamptz + minute * interval '1 minute' + id * interval '1 millisecond', 'eu-west',
      case when (id + minute) % 100 = 0 then 2 else 1 end, 40 + (id * 7 + minute * 13) % 60, 200, 5, false, 0
    from generate_series(0, ${count - 1}) as minute, (select id from monitors order by id) as m`;
}

/** Inserts the roll-ups of all monitors and an outage a week, for a history that ends with the hour `end`. */
export async function fillRollUps(sql: Sql, end: number): Promise<void> {
  const histogram = Buffer.from(Array.from({ length: 25 }, (_, index) => [index >> 2, (index << 6) & 0xff]).flat());
  const today = startOf(end, DAY_MS);
  const first = new Date(today - DAYS * DAY_MS);
  await sql`
    insert into check_hours (hour, monitor_id, location, up, down, unknown, response_ms)
    select hour, id, 'eu-west', 59, 1, 0, ${histogram}
    from generate_series(${new Date(end - HOURS * HOUR_MS)}::timestamptz, ${new Date(end - HOUR_MS)}, '1 hour') as hour,
      monitors`;
  await sql`
    insert into check_days (day, monitor_id, location, up, down, unknown, response_ms)
    select day, id, 'eu-west', 1438, 2, 0, ${histogram}
    from generate_series(${first}::timestamptz, ${new Date(today - DAY_MS)}, '1 day') as day, monitors`;
  await sql`
    insert into monitor_days (day, monitor_id, up_ms, down_ms, unknown_ms, maintenance_ms)
    select day, id, 86000000, 400000, 0, 0
    from generate_series(${first}::timestamptz, ${new Date(today - DAY_MS)}, '1 day') as day, monitors`;
  await sql`
    insert into monitor_status_changes (monitor_id, at, status)
    select id, at + change * interval '1 minute', change
    from monitors, generate_series(${first}::timestamptz, ${new Date(end)}, '7 days') as at,
      unnest('{2,1}'::smallint[]) as change`;
  await sql`update history_progress set open_from = ${new Date(end)} where name = 'hours'`;
  await sql`update history_progress set open_from = ${new Date(today)} where name = 'days'`;
}

/** Gives all monitors 90 days of roll-ups, and together at least `rows` checks before the running hour. */
export async function fillHistory(
  sql: Sql,
  { now, rows }: { readonly now: number; readonly rows: number },
): Promise<void> {
  const end = startOf(now, HOUR_MS);
  const [counted] = await sql<{ monitors: number }[]>`select count(*)::integer as monitors from monitors`;
  const hours = Math.ceil(rows / (counted?.monitors ?? 1) / 60);
  await sql`update monitors set created_at = ${new Date(end - 2 * DAYS * DAY_MS)}`;
  await fillRollUps(sql, end);
  const begin = end - hours * HOUR_MS;
  for (let day = startOf(begin, DAY_MS); day < end; day += DAY_MS)
    await keepPartitions(sql, CHECKS, new Date(day), KEPT);
  for (let from = begin; from < end; from += HOUR_MS) await insertMinutes(sql, from, 60);
  await sql`analyze checks, check_hours, check_days, monitor_days, monitor_status_changes`;
}
