import type { Queryable } from "#control-plane/core/database/connect.ts";
import { coverMonitors, type TaggedMonitor } from "#control-plane/outages/maintenance/coverage/cover.ts";
import {
  readCovered,
  readCoveredScopes,
  type MonitorAtTime,
} from "#control-plane/outages/maintenance/coverage/store.ts";
import type { Span } from "#control-plane/outages/maintenance/schedule/schedule.ts";

/**
 * Reports for each of these monitors, in their order, whether a maintenance window covers it at its time. Works in any
 * transaction.
 */
export async function areCovered(tx: Queryable, monitors: readonly MonitorAtTime[]): Promise<readonly boolean[]> {
  return monitors.length === 0 ? [] : readCovered(tx, monitors);
}

/**
 * Returns when maintenance windows cover each of these monitors of an account between two times, in order and merged.
 * Monitors that are never covered are missing. What was covered in the past does not change when a window is changed or
 * deleted; of a window with tags, the present tags of the monitors count. Occurrences are kept for two years.
 */
export async function coveredBetween(
  sql: Queryable,
  accountId: number,
  monitors: readonly TaggedMonitor[],
  from: Date,
  to: Date,
): Promise<ReadonlyMap<number, readonly Span[]>> {
  if (monitors.length === 0) return new Map();
  const scopes = await readCoveredScopes(sql, accountId, monitors, from, to);
  return coverMonitors(monitors, scopes, { from: from.getTime(), to: to.getTime() });
}
