import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { noteLateChecks } from "#control-plane/outages/history/record.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { judgeDependency, type Dependency } from "#control-plane/outages/state/notices.ts";
import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import { nextTimeoutSweep } from "#control-plane/outages/state/rechecks.ts";
import { sweepBy } from "#control-plane/watching/checking/timeout-sweep/store.ts";
import {
  applyChanges,
  type ApplyDeps,
  type MonitorChange,
} from "#control-plane/watching/checking/watch/apply-changes.ts";
import type { WatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import {
  checkOf,
  extraChecks,
  planRecord,
  type PlannedRecord,
} from "#control-plane/watching/checking/watch/plan-record.ts";
import type { RecordWithEvents } from "#control-plane/watching/checking/watch/recorder.ts";
import { lockForRecord, recordAll, type NoticeFacts } from "#control-plane/watching/checking/watch/store.ts";

/** What was recorded. */
interface Recorded {
  /** JSON of the state. */
  readonly state: string;
  readonly transition: PlannedRecord["transition"];
}

/**
 * Creates the function that commits an observation with everything that follows from it, in one transaction: the state,
 * the status change, the incident, the event and its deliveries.
 */
export function createRecordWithEvents(
  deps: ApplyDeps & Pick<App, "sql"> & { readonly metrics: Pick<WatchMetrics, "transitions"> },
): RecordWithEvents {
  return async (planned) => {
    const written = await transact(deps.sql, (tx) => record(tx, deps, planned));
    if (written === null) return null;
    for (const { kind } of written.transition.events) deps.metrics.transitions.inc({ kind });
    return written.state;
  };
}

async function record(tx: Transaction, deps: ApplyDeps, given: PlannedRecord): Promise<Recorded | null> {
  const { accountId, location } = given.finished.entry;
  const facts = await lockForRecord(tx, accountId, given.record);
  if (facts === null) return null;
  const planned = planAgain(given, facts);
  const { now, record: quiet, transition } = planned;
  const at = new Date(now);
  const [applied] = await applyChanges(tx, deps, [changeOf(planned, facts)], at);
  if (applied === undefined) throw new Error("a change was not applied");
  const state = encodeState(applied.state);
  await noteLateChecks(tx, [checkOf(planned)], at);
  const { status } = applied.state;
  const recorded = await recordAll(tx, [{ ...quiet, ...extraChecks(location, applied.rechecks), status, state }]);
  if (!recorded.has(0)) throw new Error("an observation with a locked entry and state was not recorded");
  await sweepBy(tx, given.record.monitorId, nextTimeoutSweep(planned.settings, applied.state, now));
  return { state, transition };
}

/**
 * Plans the record with the present settings if they were changed during the check. A change that is no new start leaves
 * the state as it is, so that only the settings show it; an address that it added must get the notice.
 */
function planAgain(planned: PlannedRecord, { settings }: NoticeFacts): PlannedRecord {
  const { finished, now } = planned;
  if (finished.entry.settings === settings) return planned;
  const monitor = { ...finished.monitor, settings: readStoredSettings(settings) };
  return planRecord({ ...finished, monitor }, now);
}

function changeOf(planned: PlannedRecord, facts: NoticeFacts): MonitorChange {
  const { finished, settings, before, transition, now } = planned;
  const { entry, monitor } = finished;
  const { accountId, name, tags, dependsOn } = facts;
  const { url, checkType } = monitor;
  // A cause says how many of the locations fail that the monitor is checked from.
  const options = { ...monitor.settings, locations: settings.locations };
  return {
    monitor: { id: entry.monitorId, accountId, name, url, checkType, settings: options, tags, dependsOn },
    settings,
    before,
    transition,
    dependency: dependencyOf(facts, now),
    now,
  };
}

function dependencyOf(facts: NoticeFacts, now: number): Dependency {
  const { dependencyState, isDependencyChecked, dependencyDueAt } = facts;
  if (dependencyState === null) return "fine";
  const dueAt = dependencyDueAt?.getTime() ?? null;
  return judgeDependency({ state: decodeState(dependencyState), isChecked: isDependencyChecked, dueAt }, now);
}
