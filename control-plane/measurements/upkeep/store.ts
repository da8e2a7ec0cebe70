import type { Sql } from "#control-plane/database/connect.ts";
import { MEASUREMENT_CHANNEL, type MeasurementStatus } from "#control-plane/measurements/store.ts";

/** Deletes up to `limit` measurements past their time; says how many. */
export async function deleteExpired(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from measurements where id in (
      select id from measurements where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}

/** Fails what was begun before `before` and never ended: no job can be left that would end it. */
export async function failForgotten(sql: Sql, before: Date, now: Date): Promise<number> {
  const rows = await sql`
    with ended as (
      update measurements set status = 'failed', finished_at = ${now}
      where finished_at is null and created_at < ${before}
      returning id
    )
    select pg_notify(${MEASUREMENT_CHANNEL}, id) from ended`;
  return rows.length;
}

/** How many measurements that have not ended stand in each status. */
export async function countUnfinished(
  sql: Sql,
): Promise<readonly { readonly status: MeasurementStatus; readonly measurements: number }[]> {
  return sql<{ status: MeasurementStatus; measurements: number }[]>`
    select status, count(*) as measurements from measurements where finished_at is null group by status`;
}
