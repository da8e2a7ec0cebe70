import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { DAY_MS, startOf } from "#control-plane/outages/history/period.ts";
import type { MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { computeDay } from "#control-plane/outages/history/roll-up/days.ts";
import type { Step } from "#control-plane/outages/history/roll-up/hours.ts";
import {
  lockPosition,
  readMonitors,
  recomputeHour,
  takeLateHours,
  type LateHour,
  type Position,
} from "#control-plane/outages/history/roll-up/store.ts";

/**
 * Computes up to `limit` marked hours of monitors again, and their days, as far as they are complete. The others are
 * computed with everything that was recorded late when it is their turn.
 */
export function recomputeLate(sql: Sql, maintenanceBetween: MaintenanceBetween, limit: number): Promise<Step> {
  return transact(sql, async (tx) => {
    const hours = await lockPosition(tx, "hours");
    const days = hours === null ? null : await lockPosition(tx, "days");
    if (hours === null || days === null) return "idle";
    const late = await takeLateHours(tx, limit);
    const ofHours = late.filter((mark) => isComplete(hours, mark.hour.getTime(), mark));
    for (const [hour, marks] of Map.groupBy(ofHours, (mark) => mark.hour.getTime())) {
      await recomputeHour(tx, new Date(hour), idsOf(marks));
    }
    const ofDays = late.filter((mark) => isComplete(days, dayOf(mark), mark));
    for (const [day, marks] of Map.groupBy(ofDays, dayOf)) {
      const monitors = await readMonitors(tx, idsOf(marks), new Date(day + DAY_MS));
      if (monitors.length > 0) await computeDay(tx, maintenanceBetween, day, monitors);
    }
    return late.length < limit ? "idle" : "moved";
  });
}

/** Reports whether the roll-up has computed this period of the mark's monitor. */
function isComplete({ openFrom, nextMonitor }: Position, begin: number, { monitorId }: LateHour): boolean {
  if (openFrom === null) return false;
  return begin < openFrom.getTime() || (begin === openFrom.getTime() && monitorId < nextMonitor);
}

function dayOf({ hour }: LateHour): number {
  return startOf(hour.getTime(), DAY_MS);
}

function idsOf(marks: readonly LateHour[]): readonly number[] {
  return [...new Set(marks.map(({ monitorId }) => monitorId))];
}
