import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { CountedChecks } from "#control-plane/outages/history/aggregate-store.ts";
import { encodeHistogram, mergeHistograms } from "#control-plane/outages/history/histogram.ts";
import { readMaintenance } from "#control-plane/outages/history/maintenance.ts";
import { DAY_MS, hoursBetween } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import type { Step } from "#control-plane/outages/history/roll-up/hours.ts";
import {
  deleteOldDays,
  lockPosition,
  movePosition,
  readChunk,
  readHoursOfDay,
  replaceDays,
  replaceTimes,
} from "#control-plane/outages/history/roll-up/store.ts";
import { readChanges, readProgress } from "#control-plane/outages/history/store.ts";
import { measureTime } from "#control-plane/outages/history/timeline.ts";

/** Retention of days and status changes: 2 years, in milliseconds. */
const KEPT_MS = 731 * DAY_MS;

/**
 * Computes the next part of the roll-up by day from the roll-up by hour: the oldest day whose hours are complete, for up
 * to `monitors` monitors, in one transaction with the new position. It deletes their days after the retention.
 */
export function rollUpDays(
  sql: Sql,
  maintenanceBetween: MaintenanceBetween,
  now: Date,
  monitors: number,
): Promise<Step> {
  return transact(sql, async (tx) => {
    const position = await lockPosition(tx, "days");
    if (position === null) return "idle";
    const { openHour } = await readProgress(tx, now);
    const day = position.openFrom?.getTime() ?? Infinity;
    if (day + DAY_MS > openHour) return "idle";
    const chunk = await readChunk(tx, position.nextMonitor, new Date(day + DAY_MS), monitors);
    const last = chunk.at(-1);
    if (last === undefined) {
      await movePosition(tx, "days", { openFrom: new Date(day + DAY_MS), nextMonitor: 0 });
      return "moved";
    }
    await computeDay(tx, maintenanceBetween, day, chunk);
    const ids = chunk.map(({ id }) => id);
    await deleteOldDays(tx, ids, new Date(day - KEPT_MS));
    await movePosition(tx, "days", { openFrom: new Date(day), nextMonitor: last.id + 1 });
    return "moved";
  });
}

/** Computes a day of monitors, in place of what was computed before. `monitors` is ordered by id and not empty. */
export async function computeDay(
  tx: Transaction,
  maintenanceBetween: MaintenanceBetween,
  day: number,
  monitors: readonly HistoryMonitor[],
): Promise<void> {
  const whole = { from: day, to: day + DAY_MS };
  const at = new Date(day);
  const ids = monitors.map(({ id }) => id);
  const byHour = await readHoursOfDay(tx, hoursBetween(whole.from, whole.to), ids);
  await replaceDays(tx, at, ids, joinHours(byHour));
  const lives = monitors.map(({ id, createdAt }) => {
    return { monitorId: id, from: Math.max(whole.from, createdAt.getTime()), to: whole.to };
  });
  const changes = await readChanges(tx, lives);
  const maintenance = await readMaintenance(tx, maintenanceBetween, monitors, whole);
  const times = lives.map((life, index) => {
    const { monitorId } = life;
    return { monitorId, ...measureTime(life, changes[index] ?? [], maintenance.get(monitorId) ?? []) };
  });
  await replaceTimes(tx, at, times);
}

/** Joins the hours of each monitor and location to one row. */
function joinHours(rows: readonly Omit<CountedChecks, "at">[]): readonly Omit<CountedChecks, "at">[] {
  const groups = Map.groupBy(rows, ({ monitorId, location }) => `${monitorId} ${location}`);
  return Array.from(groups.values(), (group) => {
    const sum = (field: "up" | "down" | "unknown") => group.reduce((total, row) => total + row[field], 0);
    return {
      monitorId: group[0]?.monitorId ?? 0,
      location: group[0]?.location ?? "",
      up: sum("up"),
      down: sum("down"),
      unknown: sum("unknown"),
      responseMs: encodeHistogram(mergeHistograms(group.map(({ responseMs }) => responseMs))),
    };
  });
}
