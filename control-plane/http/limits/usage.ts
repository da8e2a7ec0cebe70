import type { Queryable } from "#control-plane/core/database/connect.ts";
import { windowsAt } from "#control-plane/http/access/windows.ts";
import { readRequestCounts } from "#control-plane/http/limits/store.ts";

/** Returns how many requests of an account count in the current UTC minute and day, without counting one. */
export function readUsage(
  sql: Queryable,
  accountId: number,
  now: Date,
): Promise<{ readonly minute: number; readonly day: number }> {
  return readRequestCounts(sql, accountId, windowsAt(now.getTime()));
}
