import type { Queryable, Sql, SqlFragment } from "#control-plane/core/database/connect.ts";
import type { RunStatus } from "#control-plane/checks/jobs/durable-run/status.ts";
import {
  cancelRun,
  claimRun,
  deleteExpiredRuns,
  failRunsCreatedBefore,
  finishRun,
  postponeRun,
  type RunTableName,
} from "#control-plane/checks/jobs/durable-run/store.ts";
import type { ClaimedRun, RunLease } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Statements that claim, end and delete the runs of one table. `Row` is the row that a claim returns. */
export interface RunTable<Row extends ClaimedRun> {
  readonly channel: string;
  /** Claims a run: from now on only this claim can write. Returns null if it has ended or is deleted. */
  claim(sql: Sql, id: string, now: Date): Promise<Row | null>;
  /** Stores since when units wait for a probe. */
  postpone(sql: Sql, lease: RunLease, now: Date): Promise<void>;
  /**
   * Ends a run: completed if `succeeded` selects a unit, else failed. Returns null and changes nothing if `open`
   * selects a unit or the claim is no longer valid.
   */
  finish(
    sql: Sql,
    lease: RunLease,
    units: { readonly open: SqlFragment; readonly succeeded: SqlFragment },
    now: Date,
  ): Promise<RunStatus | null>;
  /** Cancels a run of an account and aborts its attempt on any replica. Returns false if there is nothing to cancel. */
  cancel(sql: Queryable, accountId: number, id: string, now: Date): Promise<boolean>;
  /** Fails runs that were created before `before` and have not ended. */
  failCreatedBefore(sql: Sql, before: Date, now: Date): Promise<void>;
  /** Deletes up to `limit` expired runs; returns how many. */
  deleteExpired(sql: Sql, now: Date, limit: number): Promise<number>;
}

/** Creates the statements for a table that has the columns named at RunTableName. */
export function createRunTable<Row extends ClaimedRun>(
  name: RunTableName,
  columns: (sql: Queryable) => SqlFragment,
): RunTable<Row> {
  return {
    channel: name.channel,
    claim: (sql, id, now) => claimRun<Row>(sql, name, columns(sql), id, now),
    postpone: (sql, lease, now) => postponeRun(sql, name, lease, now),
    finish: (sql, lease, units, now) => finishRun(sql, name, lease, units, now),
    cancel: (sql, accountId, id, now) => cancelRun(sql, name, accountId, id, now),
    failCreatedBefore: (sql, before, now) => failRunsCreatedBefore(sql, name, before, now),
    deleteExpired: (sql, now, limit) => deleteExpiredRuns(sql, name, now, limit),
  };
}
