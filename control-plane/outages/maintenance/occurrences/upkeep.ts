import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import { planAfter } from "#control-plane/outages/maintenance/occurrences/plan.ts";
import {
  addOccurrences,
  claimDueWindows,
  deleteEndedBefore,
  deleteIdleScopes,
} from "#control-plane/outages/maintenance/occurrences/store.ts";
import { scheduleOf } from "#control-plane/outages/maintenance/read-window.ts";

const DAY_MS = 86_400_000;
/** A window gets further rows when one is missing within this time, milliseconds: a day less than is planned. */
const PLANNED_AT_LEAST_MS = 59 * DAY_MS;
/** Windows planned in one transaction. Others of the account wait for it, and so does the event loop. */
const PLANNED_AT_ONCE = 10;
const DELETED_AT_ONCE = 1_000;

/**
 * Writes the occurrences that have come within the planned time. Replicas that run it at the same time plan different
 * windows; a round that was cut off is repeated by the next.
 */
export async function planAhead(sql: Sql, now: Date): Promise<void> {
  const until = new Date(now.getTime() + PLANNED_AT_LEAST_MS);
  for (;;) {
    const planned = await transact(sql, async (tx) => {
      const due = await claimDueWindows(tx, until, PLANNED_AT_ONCE);
      for (const window of due) {
        const schedule = scheduleOf(window);
        await addOccurrences(tx, window, planAfter(schedule, window.plannedUntil.getTime(), now.getTime()));
      }
      return due.length;
    });
    if (planned < PLANNED_AT_ONCE) return;
  }
}

/** Deletes occurrences that ended before a time, and the scopes that only they had. */
export async function deleteEnded(sql: Sql, before: Date): Promise<void> {
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteEndedBefore(sql, before, limit));
  await deleteIdleScopes(sql, null);
}
