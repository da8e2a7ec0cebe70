import type { Sql } from "#control-plane/core/database/connect.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import { DAY_MS } from "#control-plane/outages/history/period.ts";
import { deleteOldHours } from "#control-plane/outages/history/roll-up/store.ts";

/** Retention of the roll-up by hour: 90 days, in milliseconds. Days are kept longer (roll-up/days.ts). */
export const HOURS_KEPT_MS = 90 * DAY_MS;
const DELETED_AT_ONCE = 10_000;

/** Deletes hours of the roll-up after their retention. Rejects while the database is away. */
export async function deleteHours(sql: Sql, now: Date): Promise<void> {
  const cutoff = new Date(now.getTime() - HOURS_KEPT_MS);
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldHours(sql, cutoff, limit));
}
