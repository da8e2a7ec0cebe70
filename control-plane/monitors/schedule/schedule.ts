import type { Clock } from "#shared/clock.ts";
import type { Queryable } from "#control-plane/database/connect.ts";
import { requestRun, requestRuns, requestRunsOfDown } from "#control-plane/monitors/schedule/requests/store.ts";
import type { Scheduled, SchedulePort } from "#control-plane/monitors/ports.ts";
import { phaseMs } from "#control-plane/monitors/schedule/planned-time.ts";
import { deleteSlots, insertSlots, replaceSlots, type NewSlot } from "#control-plane/monitors/schedule/store.ts";

/** Creates the schedule: the slots in which monitors are checked. */
export function createSchedule(clock: Clock): SchedulePort {
  const slotsFrom = (monitors: readonly Scheduled[]): readonly NewSlot[] => {
    const plannedAt = clock.now();
    return monitors.flatMap((monitor) => slotsOf(monitor, plannedAt));
  };
  return {
    plan: (tx, monitors) => insertSlots(tx, slotsFrom(monitors)),
    async replan(tx, monitor) {
      await deleteSlots(tx, [monitor.id]);
      await insertSlots(tx, slotsFrom([monitor]));
    },
    change: (tx, monitors) =>
      replaceSlots(
        tx,
        monitors.map(({ id }) => id),
        slotsFrom(monitors),
      ),
    remove: deleteSlots,
    run: (tx, id) => requestRun(tx, id, clock.now()),
  };
}

/**
 * Requests a check of monitors at all their locations, because what they are judged by has changed. Needs no lock.
 */
export async function requestChecks(sql: Queryable, monitorIds: readonly number[], now: Date): Promise<void> {
  if (monitorIds.length > 0) await requestRuns(sql, monitorIds, now);
}

/**
 * Requests a check of monitors that are down and were not checked since their maintenance ended, at all their locations.
 */
export async function requestChecksAfter(
  sql: Queryable,
  ended: Parameters<typeof requestRunsOfDown>[1] & { readonly endedAt: Date },
  now: Date,
): Promise<void> {
  await requestRunsOfDown(sql, ended, { before: ended.endedAt, now });
}

/** Returns the slots of a monitor, one for each location. The first check of each is planned at `plannedAt`. */
function slotsOf({ id, accountId, locations, intervalSeconds, timeoutSeconds }: Scheduled, plannedAt: Date): NewSlot[] {
  return locations.map((location, ordinal) => ({
    monitorId: id,
    location,
    accountId,
    intervalSeconds,
    phaseMs: phaseMs(id, ordinal, locations.length, intervalSeconds),
    timeoutSeconds,
    plannedAt,
  }));
}
