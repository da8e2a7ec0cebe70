import { deleteExpiredBatches, failForgottenBatches } from "#control-plane/batches/store.ts";
import type { Sql } from "#control-plane/database/connect.ts";

const EVERY_MS = 600_000;
/** Rows deleted by one statement: each takes its targets along. */
const BATCH = 100;
/** A batch that has not ended after so long has lost its job: 100 checks of 90 s, 50 at once, take 3 minutes. */
const FORGOTTEN_MS = 6 * 3_600_000;

/** Deletes what is past its time, every ten minutes, on every replica; expired batches are not shown in the meantime. */
export function startUpkeep(sql: Sql, now: () => Date): { stop(): void } {
  const timer = setInterval(() => void sweepBatches(sql, now()), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One round of housekeeping; what fails now is done in the next. */
export async function sweepBatches(sql: Sql, now: Date): Promise<void> {
  try {
    await failForgottenBatches(sql, new Date(now.getTime() - FORGOTTEN_MS), now);
    while ((await deleteExpiredBatches(sql, now, BATCH)) === BATCH);
  } catch {
    // The database is away.
  }
}
