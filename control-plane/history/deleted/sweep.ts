import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { deleteDay, forgetMonitors, lockOldestDay, moveTo } from "#control-plane/history/deleted/store.ts";
import { firstKeptDay } from "#control-plane/database/partitions/days.ts";
import { DAY_MS, hoursBetween, startOf } from "#control-plane/history/period.ts";
import { HOURS_KEPT_MS } from "#control-plane/history/roll-up/retention.ts";
import type { Step } from "#control-plane/history/roll-up/hours.ts";
import { lockPosition } from "#control-plane/history/roll-up/store.ts";

/** Days after today that can hold checks: those recorded while the clock was ahead. */
const AHEAD_MS = DAY_MS;

/**
 * Deletes one day of the history of up to `monitors` deleted monitors, the oldest first. With the lock of the roll-up by
 * hour, so that no replica computes rows from the checks while they are deleted.
 */
export function sweepDeleted(sql: Sql, now: Date, retentionMs: number, monitors: number): Promise<Step> {
  return transact(sql, async (tx) => {
    if ((await lockPosition(tx, "hours")) === null) return "idle";
    const oldest = await lockOldestDay(tx, monitors);
    if (oldest === null) return "idle";
    const { monitorIds } = oldest;
    const firstKept = firstKeptDay(now.getTime(), Math.max(retentionMs, HOURS_KEPT_MS));
    const day = Math.max(oldest.day.getTime(), firstKept);
    if (day > startOf(now.getTime(), DAY_MS) + AHEAD_MS) {
      await forgetMonitors(tx, monitorIds);
    } else {
      await deleteDay(tx, hoursBetween(day, day + DAY_MS), monitorIds);
      await moveTo(tx, monitorIds, new Date(day + DAY_MS));
    }
    return "moved";
  });
}
