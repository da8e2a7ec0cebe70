import type { Sql } from "#control-plane/core/database/connect.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import type { RunTable } from "#control-plane/checks/jobs/durable-run/table.ts";
import type { ClaimedRun } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Interval between two sweeps of a table of runs, in milliseconds. */
export const SWEEP_RUNS_MS = 600_000;

/** Ages at which runs of a table are failed or deleted. */
export interface RunAges {
  /** Milliseconds after which an unended run must have lost its job; the deadlines of its units are far shorter. */
  readonly forgottenMs: number;
  /** Maximum number of runs deleted by one statement, together with their units. */
  readonly deletedAtOnce: number;
}

/** Fails runs that have lost their job and deletes expired runs. Rejects while the database is away. */
export async function sweepRuns<W extends ClaimedRun>(
  sql: Sql,
  runs: RunTable<W>,
  { forgottenMs, deletedAtOnce }: RunAges,
  now: Date,
): Promise<void> {
  await runs.failCreatedBefore(sql, new Date(now.getTime() - forgottenMs), now);
  await deleteInSteps(deletedAtOnce, (limit) => runs.deleteExpired(sql, now, limit));
}
