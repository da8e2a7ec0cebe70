import type { Queryable, Sql } from "#control-plane/database/connect.ts";

/** The channel on which a batch's id says that it was cancelled. */
export const BATCH_CHANNEL = "vantage_batches";

/** pending until a replica takes it up; the last three are final. */
export type BatchStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

/** A batch as it is stored; `invalid` is JSON. */
export interface StoredBatch {
  readonly id: string;
  readonly accountId: number;
  readonly tool: string;
  readonly status: BatchStatus;
  readonly invalid: string;
  readonly run: number;
  readonly waitingSince: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** A batch with its figures. */
export interface CountedBatch extends StoredBatch {
  readonly total: number;
  readonly ok: number;
  readonly failed: number;
}

/** One target; `result` is JSON, the data of an ok one, the error of a failed one. Null without a result. */
export interface StoredTarget {
  readonly ordinal: number;
  readonly url: string;
  readonly status: "ok" | "failed" | null;
  readonly result: string | null;
  readonly durationMs: number | null;
}

/** A result to be written. */
export interface NewResult {
  readonly ordinal: number;
  readonly status: "ok" | "failed";
  readonly result: string;
  readonly durationMs: number;
}

/** A batch to be inserted. */
export type NewBatch = Pick<StoredBatch, "id" | "accountId" | "tool" | "invalid" | "createdAt"> & {
  readonly expiresAt: Date;
};

/** Inserts a batch and its targets in one statement; `original` is the ordinal of the first of the same. */
export async function insertBatch(
  sql: Queryable,
  made: NewBatch,
  targets: readonly { readonly url: string; readonly original: number }[],
): Promise<void> {
  await sql`
    with batch as (
      insert into batches (id, account_id, tool, status, invalid, created_at, expires_at)
      values (${made.id}, ${made.accountId}, ${made.tool}, 'pending', ${made.invalid}, ${made.createdAt}, ${made.expiresAt})
      returning id
    )
    insert into batch_targets (batch_id, ordinal, url, original)
    select batch.id, given.* from batch, unnest(
      ${targets.map((_, ordinal) => ordinal)}::integer[],
      ${targets.map(({ url }) => url)}::text[],
      ${targets.map(({ original }) => original)}::integer[]
    ) as given`;
}

/** Takes a batch up: from now on only this run may write. null: it has ended, or is gone. */
export async function claimBatch(sql: Sql, id: string, now: Date): Promise<StoredBatch | null> {
  const [row] = await sql<StoredBatch[]>`
    update batches set status = 'running', run = run + 1, started_at = coalesce(started_at, ${now})
    where id = ${id} and status in ('pending', 'running')
    returning ${columns(sql)}`;
  return row ?? null;
}

/** The targets that are to be checked: the first of each, as far as they have no result. */
export async function readOpenTargets(sql: Sql, id: string): Promise<readonly Pick<StoredTarget, "ordinal" | "url">[]> {
  return sql<Pick<StoredTarget, "ordinal" | "url">[]>`
    select ordinal, url from batch_targets
    where batch_id = ${id} and original = ordinal and status is null order by ordinal`;
}

/** Writes results, each once; false: the batch is no longer this run's. */
export async function writeResults(
  sql: Sql,
  { id, run }: { readonly id: string; readonly run: number },
  results: readonly NewResult[],
): Promise<boolean> {
  const [row] = await sql<{ ours: boolean }[]>`
    with batch as (
      select id from batches where id = ${id} and run = ${run} and status = 'running' for share
    ), written as (
      update batch_targets as t set status = given.status, result = given.result, duration_ms = given.duration_ms
      from batch, unnest(
        ${results.map(({ ordinal }) => ordinal)}::integer[],
        ${results.map(({ status }) => status)}::text[],
        ${results.map(({ result }) => result)}::text[],
        ${results.map(({ durationMs }) => durationMs)}::integer[]
      ) as given (ordinal, status, result, duration_ms)
      where t.batch_id = batch.id and t.ordinal = given.ordinal and t.status is null
    )
    select exists (select 1 from batch) as ours`;
  return row?.ours ?? false;
}

/** Leaves a batch for later because no probe is there for what is left. */
export async function postponeBatch(
  sql: Sql,
  { id, run }: { readonly id: string; readonly run: number },
  now: Date,
): Promise<void> {
  await sql`
    update batches set waiting_since = coalesce(waiting_since, ${now})
    where id = ${id} and run = ${run} and status = 'running'`;
}

/** How the error of a target begins that no probe could be had for (checks/answer.ts, CheckError). */
const UNASKED = '{"code":"probe_unavailable",';

/**
 * Ends a run whose targets all have a result: failed where no target could be asked about. null: not this run's to end.
 * Results are not taken apart: PostgreSQL reads no JSON that escapes NUL or half a surrogate pair, which an agent's words
 * may hold.
 */
export async function finishBatch(
  sql: Sql,
  { id, run }: { readonly id: string; readonly run: number },
  now: Date,
): Promise<BatchStatus | null> {
  const [row] = await sql<{ status: BatchStatus }[]>`
    update batches
    set finished_at = ${now}, status = case when exists (
      select 1 from batch_targets where batch_id = ${id} and status is not null
        and (status = 'ok' or not starts_with(result, ${UNASKED}))
    ) then 'completed' else 'failed' end
    where id = ${id} and run = ${run} and status = 'running' and not exists (
      select 1 from batch_targets where batch_id = ${id} and original = ordinal and status is null
    )
    returning status`;
  return row?.status ?? null;
}

/** Cancels a batch that has not ended; its run hears of it wherever it is. false: there was nothing to cancel. */
export async function cancelBatch(sql: Queryable, accountId: number, id: string, now: Date): Promise<boolean> {
  const rows = await sql`
    with ended as (
      update batches set status = 'cancelled', finished_at = ${now}
      where id = ${id} and account_id = ${accountId} and status in ('pending', 'running')
      returning id
    )
    select pg_notify(${BATCH_CHANNEL}, id) from ended`;
  return rows.length > 0;
}

/** One of an account's batches with its figures, every submitted target counted; null where it has none of that id. */
export async function findBatch(
  sql: Queryable,
  accountId: number,
  id: string,
  now: Date,
): Promise<CountedBatch | null> {
  const [row] = await sql<CountedBatch[]>`
    select ${columns(sql)}, counts.* from batches cross join lateral (
      select count(*) as total, count(*) filter (where o.status = 'ok') as ok,
        count(*) filter (where o.status = 'failed') as failed
      from batch_targets as t join batch_targets as o on o.batch_id = t.batch_id and o.ordinal = t.original
      where t.batch_id = batches.id
    ) as counts
    where id = ${id} and account_id = ${accountId} and expires_at > ${now}`;
  return row ?? null;
}

/** Targets in the order submitted, each with the result of the first of the same. */
export async function readTargets(
  sql: Queryable,
  id: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly StoredTarget[]> {
  return sql<StoredTarget[]>`
    select t.ordinal, t.url, o.status, o.result, o.duration_ms as "durationMs"
    from batch_targets as t join batch_targets as o on o.batch_id = t.batch_id and o.ordinal = t.original
    where t.batch_id = ${id} order by t.ordinal limit ${limit} offset ${offset}`;
}

/** An account's batches for its export, newest first. */
export async function listBatches(sql: Queryable, accountId: number, limit: number): Promise<readonly StoredBatch[]> {
  return sql<StoredBatch[]>`
    select ${columns(sql)} from batches where account_id = ${accountId} order by created_at desc, id desc limit ${limit}`;
}

/** Deletes up to `limit` batches past their time; says how many. */
export async function deleteExpiredBatches(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from batches where id in (
      select id from batches where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}

/** Fails what was begun before `before` and never ended: no job can be left that would end it. */
export async function failForgottenBatches(sql: Sql, before: Date, now: Date): Promise<void> {
  await sql`
    update batches set status = 'failed', finished_at = ${now} where finished_at is null and created_at < ${before}`;
}

function columns(sql: Queryable) {
  return sql`id, account_id as "accountId", tool, batches.status, invalid, run, waiting_since as "waitingSince",
    created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt"`;
}
