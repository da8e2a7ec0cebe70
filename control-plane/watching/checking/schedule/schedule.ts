import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import {
  requestRun,
  requestRuns,
  requestRunsOfDown,
} from "#control-plane/watching/checking/schedule/requests-store.ts";
import { phaseMs } from "#control-plane/watching/checking/schedule/planned-time.ts";
import {
  deleteEntries,
  insertEntries,
  replaceEntries,
  type NewScheduleEntry,
} from "#control-plane/watching/checking/schedule/store.ts";

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

/** Plans the checks of monitors without any: new, resumed or imported ones. The first is due at once. */
export async function planChecks(tx: Transaction, monitors: readonly Scheduled[], now: Date): Promise<void> {
  await insertEntries(tx, slotsOf(monitors, now));
}

/** Plans the checks of monitors with a new target again: the first is due at once. */
export async function replanChecks(tx: Transaction, monitors: readonly Scheduled[], now: Date): Promise<void> {
  const ids = monitors.map(({ id }) => id);
  await deleteEntries(tx, ids);
  await insertEntries(tx, slotsOf(monitors, now));
}

/**
 * Adapts the planned checks to new locations, intervals and timeouts. Schedule entries that are not affected keep their
 * planned times; a new location is checked at once.
 */
export async function changeChecks(tx: Transaction, monitors: readonly Scheduled[], now: Date): Promise<void> {
  const ids = monitors.map(({ id }) => id);
  await replaceEntries(tx, ids, slotsOf(monitors, now));
}

/** Removes every planned check. A check that is running can no longer be recorded. */
export async function removeChecks(tx: Transaction, ids: readonly number[]): Promise<void> {
  await deleteEntries(tx, ids);
}

/** Requests a check of a locked monitor (lockMonitors) at each of its locations now; the planned ones stay. */
export async function requestCheck(tx: Transaction, id: number, now: Date): Promise<void> {
  await requestRun(tx, id, now);
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

/** Returns the schedule entries of monitors, one for each location. The first check of each is planned at `plannedAt`. */
function slotsOf(monitors: readonly Scheduled[], plannedAt: Date): readonly NewScheduleEntry[] {
  return monitors.flatMap(({ id, accountId, locations, intervalSeconds, timeoutSeconds }) =>
    locations.map((location, ordinal) => ({
      monitorId: id,
      location,
      accountId,
      intervalSeconds,
      phaseMs: phaseMs(id, ordinal, locations.length, intervalSeconds),
      timeoutSeconds,
      plannedAt,
    })),
  );
}
