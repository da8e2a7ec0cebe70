import type { Sql } from "#control-plane/database/connect.ts";
import { deleteExpiredAnswers } from "#control-plane/idempotency/store.ts";

const EVERY_MS = 60_000;
const BATCH = 1_000;

/** Deletes answers past their time, every minute, on every replica; none of them is replayed in the meantime. */
export function startUpkeep(sql: Sql, now: () => Date): { stop(): void } {
  const timer = setInterval(() => void sweepAnswers(sql, now()), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** One round of housekeeping; what fails now is done in the next. */
export async function sweepAnswers(sql: Sql, now: Date): Promise<void> {
  try {
    while ((await deleteExpiredAnswers(sql, now, BATCH)) === BATCH);
  } catch {
    // The database is away.
  }
}
