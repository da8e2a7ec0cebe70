import type { Clock } from "#shared/clock.ts";
import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import { requestRun, requestRuns, requestRunsOfDown } from "#control-plane/checking/schedule/requests/store.ts";
import { phaseMs } from "#control-plane/checking/schedule/planned-time.ts";
import { deleteSlots, insertSlots, replaceSlots, type NewSlot } from "#control-plane/checking/schedule/store.ts";

/** The facts about a monitor on which its schedule depends. Pass it only for active monitors. */
export interface Scheduled {
  readonly id: number;
  readonly accountId: number;
  /** The locations that the plan allows, in the order of the record. */
  readonly locations: readonly string[];
  /** That of the record, or the shortest of the plan if that is longer. */
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}

/** When monitors are checked. All functions belong to the open transaction. */
export interface Schedule {
  /** Plans the checks of monitors without any: new, resumed or imported ones. The first is due at once. */
  plan(tx: Transaction, monitors: readonly Scheduled[]): Promise<void>;
  /** Plans the checks of a monitor with a new target again: the first is due at once. */
  replan(tx: Transaction, monitor: Scheduled): Promise<void>;
  /**
   * Adapts the planned checks to new locations, intervals and timeouts. Slots that are not affected keep their planned
   * times; a new location is checked at once.
   */
  change(tx: Transaction, monitors: readonly Scheduled[]): Promise<void>;
  /** Removes every planned check. A check that is running can no longer be recorded. */
  remove(tx: Transaction, ids: readonly number[]): Promise<void>;
  /** Requests a check of a monitor at each of its locations now; the planned ones stay. */
  run(tx: Transaction, id: number): Promise<void>;
}

/** Creates the schedule: the slots in which monitors are checked. */
export function createSchedule(clock: Clock): Schedule {
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
