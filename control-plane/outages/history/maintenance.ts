import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { Span } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";

/** Finds the maintenance of monitors of any accounts within a span, with one call of the port for each account. */
export async function readMaintenance(
  sql: Queryable,
  maintenanceBetween: MaintenanceBetween,
  monitors: readonly HistoryMonitor[],
  { from, to }: Span,
): Promise<ReadonlyMap<number, readonly Span[]>> {
  const found = new Map<number, readonly Span[]>();
  for (const [accountId, owned] of Map.groupBy(monitors, (monitor) => monitor.accountId)) {
    const spans = await maintenanceBetween(sql, accountId, owned, new Date(from), new Date(to));
    for (const [id, ofMonitor] of spans) found.set(id, ofMonitor);
  }
  return found;
}
