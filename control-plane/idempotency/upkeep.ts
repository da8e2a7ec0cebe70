import type { Sql } from "#control-plane/database/connect.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import { deleteExpiredAnswers } from "#control-plane/idempotency/store.ts";

const DELETED_AT_ONCE = 1_000;

/** Deletes expired answers, which are never replayed even before that. Rejects while the database is away. */
export async function sweepAnswers(sql: Sql, now: Date): Promise<void> {
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteExpiredAnswers(sql, now, limit));
}
