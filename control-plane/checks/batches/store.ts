import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";
import { createRunTable } from "#control-plane/checks/jobs/durable-run/table.ts";
import type { RunState } from "#control-plane/checks/jobs/durable-run/watch.ts";
import type { ClaimedRun, RunLease } from "#control-plane/checks/jobs/durable-run/work.ts";

/** A stored batch; `invalid` is JSON. */
export interface StoredBatch extends ClaimedRun {
  readonly accountId: number;
  readonly tool: string;
  readonly status: RunStatus;
  readonly invalid: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** A batch with the number of its targets and of its results by status. */
export interface CountedBatch extends StoredBatch {
  readonly total: number;
  readonly ok: number;
  readonly failed: number;
}

/**
 * A stored target. `result` is JSON: data if status is ok, error if failed. The last three are null without a result.
 */
export interface StoredTarget {
  readonly ordinal: number;
  readonly url: string;
  readonly status: "ok" | "failed" | null;
  readonly result: string | null;
  readonly durationMs: number | null;
}

/** A result to write. */
export interface NewResult {
  readonly ordinal: number;
  readonly status: "ok" | "failed";
  readonly result: string;
  /** Whether the check failed because no probe was available, so nothing is known about the target. */
  readonly isUnanswered: boolean;
  readonly durationMs: number;
}

/** A batch to insert. */
type NewBatch = Pick<StoredBatch, "id" | "accountId" | "tool" | "invalid" | "createdAt"> & {
  readonly expiresAt: Date;
};

/** Inserts a batch and its targets in one statement. `original` is the ordinal of the first equal target. */
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
    select batch.id, given.* from batch, ${given(
      sql,
      targets.map(({ url, original }, ordinal) => ({ ordinal, url, original })),
      { ordinal: "integer", url: "text", original: "integer" },
    )}`;
}

/** Returns the targets that still need a check: those without a result, and of equal targets only the first. */
export async function readOpenTargets(sql: Sql, id: string): Promise<readonly Pick<StoredTarget, "ordinal" | "url">[]> {
  return sql<Pick<StoredTarget, "ordinal" | "url">[]>`
    select ordinal, url from batch_targets
    where batch_id = ${id} and original = ordinal and status is null order by ordinal`;
}

/** Stores results, each once. Returns false if the batch no longer belongs to this claim. */
export async function writeResults(sql: Sql, { id, run }: RunLease, results: readonly NewResult[]): Promise<boolean> {
  const [row] = await sql<{ ours: boolean }[]>`
    with batch as (
      select id from batches where id = ${id} and run = ${run} and status = 'running' for share
    ), written as (
      update batch_targets as t
      set status = given.status, result = given.result, unanswered = given.is_unanswered,
        duration_ms = given.duration_ms
      from batch, ${given(sql, results, {
        ordinal: "integer",
        status: "text",
        result: "text",
        isUnanswered: "boolean",
        durationMs: "integer",
      })}
      where t.batch_id = batch.id and t.ordinal = given.ordinal and t.status is null
    )
    select exists (select 1 from batch) as ours`;
  return row?.ours ?? false;
}

/**
 * Ends a batch whose targets all have a result: failed if no probe was available for any. Returns null if nothing
 * changed.
 */
export async function finishBatch(sql: Sql, lease: RunLease, now: Date): Promise<RunStatus | null> {
  const open = sql`
    select from batch_targets where batch_id = ${lease.id} and original = ordinal and status is null`;
  const succeeded = sql`
    select from batch_targets where batch_id = ${lease.id} and status is not null and not unanswered`;
  return BATCH_RUNS.finish(sql, lease, { open, succeeded }, now);
}

/** Returns the states of these batches, in any order. Deleted batches are missing. */
export async function readBatchStates(sql: Sql, ids: readonly string[]): Promise<readonly RunState[]> {
  return sql<RunState[]>`select id, status, run from batches where id = any(${[...ids]}::text[])`;
}

/**
 * Finds a batch of an account with its counts, which include duplicate targets; null if there is none or it has
 * expired.
 */
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

/** Returns targets in the order submitted, each with the result of the first equal target. */
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

/** Lists the batches of an account for its data export, newest first. */
export async function listBatches(sql: Queryable, accountId: number, limit: number): Promise<readonly StoredBatch[]> {
  return sql<StoredBatch[]>`
    select ${columns(sql)} from batches where account_id = ${accountId} order by created_at desc, id desc limit ${limit}`;
}

function columns(sql: Queryable) {
  return sql`id, account_id as "accountId", tool, batches.status, invalid, run, waiting_since as "waitingSince",
    created_at as "createdAt", started_at as "startedAt", finished_at as "finishedAt"`;
}

/** Statements that claim, end and delete batches. */
export const BATCH_RUNS = createRunTable<StoredBatch>({ table: "batches", channel: "vantage_batches" }, columns);
