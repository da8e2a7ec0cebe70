import type { Queryable, Sql, SqlFragment } from "#control-plane/core/database/connect.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";
import type { RunLease } from "#control-plane/checks/jobs/durable-run/work.ts";

/**
 * Names of a table of runs and of its channel. The table has the columns id, account_id, status, run, waiting_since,
 * created_at, started_at, finished_at and expires_at.
 */
export interface RunTableName {
  readonly table: string;
  /** Notification channel on which the ids of changed runs are sent. */
  readonly channel: string;
}

/**
 * Claims a run that has not ended, also from another replica. Returns `columns`, or null if it has ended or is deleted.
 */
export async function claimRun<Row>(
  sql: Sql,
  { table }: RunTableName,
  columns: SqlFragment,
  id: string,
  now: Date,
): Promise<Row | null> {
  const rows: readonly Row[] = await sql<(Row & object)[]>`
    update ${sql(table)} set status = 'running', run = run + 1, started_at = coalesce(started_at, ${now})
    where id = ${id} and status in ('pending', 'running')
    returning ${columns}`;
  return rows[0] ?? null;
}

/** Stores the time at which units of a run began to wait for a probe; keeps an earlier time. */
export async function postponeRun(sql: Sql, { table }: RunTableName, { id, run }: RunLease, now: Date): Promise<void> {
  await sql`
    update ${sql(table)} set waiting_since = coalesce(waiting_since, ${now})
    where id = ${id} and run = ${run} and status = 'running'`;
}

/** Ends a run without open units: completed if a unit succeeded, else failed. Returns null if nothing changed. */
export async function finishRun(
  sql: Sql,
  { table, channel }: RunTableName,
  { id, run }: RunLease,
  units: { readonly open: SqlFragment; readonly succeeded: SqlFragment },
  now: Date,
): Promise<RunStatus | null> {
  const [row] = await sql<{ status: RunStatus }[]>`
    with ended as (
      update ${sql(table)}
      set finished_at = ${now}, status = case when exists (${units.succeeded}) then 'completed' else 'failed' end
      where id = ${id} and run = ${run} and status = 'running' and not exists (${units.open})
      returning id, status
    )
    select status, pg_notify(${channel}, id) from ended`;
  return row?.status ?? null;
}

/** Cancels a run of an account that has not ended, and notifies every replica. Returns false if there is none. */
export async function cancelRun(
  sql: Queryable,
  { table, channel }: RunTableName,
  accountId: number,
  id: string,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    with ended as (
      update ${sql(table)} set status = 'cancelled', finished_at = ${now}
      where id = ${id} and account_id = ${accountId} and status in ('pending', 'running')
      returning id
    )
    select pg_notify(${channel}, id) from ended`;
  return rows.length > 0;
}

/** Fails runs that were created before `before` and have not ended. */
export async function failRunsCreatedBefore(
  sql: Sql,
  { table, channel }: RunTableName,
  before: Date,
  now: Date,
): Promise<void> {
  await sql`
    with ended as (
      update ${sql(table)} set status = 'failed', finished_at = ${now}
      where finished_at is null and created_at < ${before}
      returning id
    )
    select pg_notify(${channel}, id) from ended`;
}

/**
 * Deletes up to `limit` runs past their expiry; returns how many. Rows that another replica is deleting are skipped.
 */
export async function deleteExpiredRuns(sql: Sql, { table }: RunTableName, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)} where id in (
      select id from ${sql(table)} where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}
