import type { Sql } from "#control-plane/database/connect.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import { deleteExpiredAnswers } from "#control-plane/idempotency/store.ts";

const DELETED_AT_ONCE = 1_000;

/** Deletes answers past their expiry; none of them is replayed in the meantime. Rejects while the database is away. */
export async function sweepAnswers(sql: Sql, now: Date): Promise<void> {
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteExpiredAnswers(sql, now, limit));
}
