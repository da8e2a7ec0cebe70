import type { Queryable } from "#control-plane/database/connect.ts";
import { windowsAt } from "#control-plane/access/windows.ts";
import { readRequestCounts } from "#control-plane/limits/store.ts";

/** Returns how many requests of an account count in the current UTC minute and day, without counting one. */
export function readUsage(
  sql: Queryable,
  accountId: number,
  now: Date,
): Promise<{ readonly minute: number; readonly day: number }> {
  return readRequestCounts(sql, accountId, windowsAt(now.getTime()));
}
