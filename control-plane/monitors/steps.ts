import type { Queryable } from "#control-plane/core/database/connect.ts";
import { listMonitorsAfter, type StoredMonitor } from "#control-plane/monitors/store.ts";

/** Reads all monitors of an account, the oldest first, at most `size` at once. */
export async function* monitorsInSteps(
  sql: Queryable,
  accountId: number,
  size: number,
): AsyncGenerator<readonly StoredMonitor[]> {
  for (let after = 0; ;) {
    const monitors = await listMonitorsAfter(sql, accountId, after, size);
    yield monitors;
    if (monitors.length < size) return;
    after = monitors.at(-1)?.id ?? 0;
  }
}
