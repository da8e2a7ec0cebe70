import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { DAY_MS, HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import {
  deleteFrom,
  findChunk,
  findNextHour,
  findOldestCheck,
  insertHour,
  lockPosition,
  moveDaysBack,
  movePosition,
  type Position,
} from "#control-plane/outages/history/roll-up/store.ts";

/** How long after its end an hour is computed, in milliseconds: its checks have arrived by then, or are marked as late. */
export const SETTLED_MS = 2 * 60_000;

/** What one step of a roll-up did. idle: nothing is due, or another replica computes it. */
export type Step = "moved" | "idle";

/**
 * Computes the next part of the roll-up by hour: the oldest hour that is due, for up to `monitors` monitors, in one
 * transaction with the new position. So a crash repeats or loses nothing, and replicas can take turns.
 */
export function rollUpHours(sql: Sql, now: Date, monitors: number): Promise<Step> {
  return transact(sql, async (tx) => {
    const position = await lockPosition(tx, "hours");
    if (position === null) return "idle";
    const hour = await findOpenHour(tx, position, now);
    if (hour === null) return "moved";
    if (!isDue(hour, now)) return "idle";
    const { nextMonitor } = position;
    if (nextMonitor === 0) {
      // Hours without checks, for example those of a downtime, are passed over in one step.
      const next = (await findNextHour(tx, new Date(hour)))?.getTime() ?? Infinity;
      const target = Math.min(next, startOf(now.getTime() - SETTLED_MS, HOUR_MS));
      if (target > hour) {
        await movePosition(tx, "hours", { openFrom: new Date(target), nextMonitor: 0 });
        return "moved";
      }
    }
    const { last, count } = await findChunk(tx, nextMonitor, monitors);
    if (last !== null) await insertHour(tx, new Date(hour), nextMonitor, last);
    const isWhole = last === null || count < monitors;
    const after = isWhole ? { openFrom: new Date(hour + HOUR_MS), nextMonitor: 0 } : null;
    await movePosition(tx, "hours", after ?? { openFrom: new Date(hour), nextMonitor: (last ?? 0) + 1 });
    return "moved";
  });
}

/** Returns the hour to compute. null: the position was wrong and has been moved. */
async function findOpenHour(tx: Transaction, { openFrom, nextMonitor }: Position, now: Date): Promise<number | null> {
  const running = startOf(now.getTime(), HOUR_MS);
  if (openFrom === null) {
    const oldest = (await findOldestCheck(tx))?.getTime() ?? running;
    await restartFrom(tx, Math.min(startOf(oldest, HOUR_MS), running));
    return null;
  }
  const hour = openFrom.getTime();
  // If the clock was ahead, checks are now recorded in hours that are computed already.
  if (hour > running || (nextMonitor > 0 && !isDue(hour, now))) {
    await restartFrom(tx, Math.min(hour, running));
    return null;
  }
  return hour;
}

/** Sets both roll-ups back to an hour, without what they have computed after it. */
async function restartFrom(tx: Transaction, hour: number): Promise<void> {
  const day = new Date(startOf(hour, DAY_MS));
  // First the position of the days, whose lock another replica can have.
  await moveDaysBack(tx, day);
  await deleteFrom(tx, new Date(hour), day);
  await movePosition(tx, "hours", { openFrom: new Date(hour), nextMonitor: 0 });
}

function isDue(hour: number, now: Date): boolean {
  return hour + HOUR_MS + SETTLED_MS <= now.getTime();
}
