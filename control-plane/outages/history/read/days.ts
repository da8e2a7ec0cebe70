import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readMaintenance } from "#control-plane/outages/history/maintenance.ts";
import { DAY_MS, startOf, startsBetween } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { readDayTimes } from "#control-plane/outages/history/read/store.ts";
import { readChanges, type Progress } from "#control-plane/outages/history/store.ts";
import { measureTime, NO_TIME, type TimeByStatus } from "#control-plane/outages/history/timeline.ts";

/** Time by status of each of a monitor's UTC days, oldest first, the running day last. */
export type DayTimes = readonly TimeByStatus[];

/**
 * Reads the last `count` UTC days of monitors up to now: whole days from the roll-up, and those that it does not have
 * from status changes. A bounded number of statements, and one call of the port an account.
 */
export async function readDays(
  sql: Queryable,
  monitors: readonly HistoryMonitor[],
  maintenanceBetween: MaintenanceBetween,
  { now, count }: { readonly now: Date; readonly count: number },
  progress: Progress,
): Promise<ReadonlyMap<number, DayTimes>> {
  if (monitors.length === 0) return new Map();
  const end = now.getTime();
  const first = startOf(end, DAY_MS) - (count - 1) * DAY_MS;
  const openDay = Math.min(Math.max(progress.openDay, first), startOf(end, DAY_MS));
  const open = monitors.map(({ id, createdAt }) => {
    return { monitorId: id, from: Math.max(openDay, createdAt.getTime()), to: end };
  });
  const [whole, changes, maintenance] = await Promise.all([
    readDayTimes(
      sql,
      monitors.map(({ id }) => id),
      new Date(first),
      new Date(openDay),
    ),
    readChanges(sql, open),
    readMaintenance(sql, maintenanceBetween, monitors, { from: openDay, to: end }),
  ]);
  const rolledUp = Map.groupBy(whole, ({ monitorId }) => monitorId);
  return new Map(
    open.map(({ monitorId, from }, index) => {
      const known = new Map(
        (rolledUp.get(monitorId) ?? []).map(({ day, monitorId: _id, ...time }) => [day.getTime(), time]),
      );
      const covered = maintenance.get(monitorId) ?? [];
      const days = startsBetween(first, end + 1, DAY_MS).map((day) => {
        if (day < openDay) return known.get(day) ?? NO_TIME;
        const span = { from: Math.max(day, from), to: Math.min(day + DAY_MS, end) };
        return span.from < span.to ? measureTime(span, changes[index] ?? [], covered) : NO_TIME;
      });
      return [monitorId, days];
    }),
  );
}
