import type { Sql } from "#control-plane/database/connect.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import type { RunTable } from "#control-plane/jobs/durable-run/table.ts";
import type { ClaimedRun } from "#control-plane/jobs/durable-run/work.ts";

/** How often the runs of a table are swept, milliseconds. */
export const SWEEP_RUNS_MS = 600_000;

/** How the runs of a table age. */
export interface RunAges {
  /** A run that has not ended after so many milliseconds has lost its job; the deadlines of its units are far below. */
  readonly forgottenMs: number;
  /** Runs deleted by one statement: each takes its units along. */
  readonly deletedAtOnce: number;
}

/** Fails runs that have lost their job, and deletes those past their expiry. Rejects while the database is away. */
export async function sweepRuns<W extends ClaimedRun>(
  sql: Sql,
  runs: RunTable<W>,
  { forgottenMs, deletedAtOnce }: RunAges,
  now: Date,
): Promise<void> {
  await runs.failCreatedBefore(sql, new Date(now.getTime() - forgottenMs), now);
  await deleteInSteps(deletedAtOnce, (limit) => runs.deleteExpired(sql, now, limit));
}
