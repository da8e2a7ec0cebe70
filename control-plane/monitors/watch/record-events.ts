import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { Events } from "#control-plane/events/events.ts";
import { addStatusChange, noteLateChecks } from "#control-plane/monitors/history/record.ts";
import { statusChangedAt } from "#control-plane/monitors/state/change-time.ts";
import { judgeDependency, type Dependency } from "#control-plane/monitors/state/dependency.ts";
import { decodeState, encodeState } from "#control-plane/monitors/state/encoding.ts";
import { holdNotices } from "#control-plane/monitors/state/hold-notices.ts";
import type { WatchMetrics } from "#control-plane/monitors/watch/metrics.ts";
import { toNewEvent } from "#control-plane/monitors/watch/notices.ts";
import { applyToIncident, type OutageFacts } from "#control-plane/monitors/watch/outage.ts";
import { checkOf, extraChecks, type PlannedRecord } from "#control-plane/monitors/watch/plan-record.ts";
import type { RecordWithEvents } from "#control-plane/monitors/watch/recorder.ts";
import { lockForRecord, recordAll, type NoticeFacts } from "#control-plane/monitors/watch/store.ts";

/** Reports whether a maintenance window covers a monitor. */
export type IsCovered = (
  tx: Transaction,
  monitor: { readonly accountId: number; readonly monitorId: number; readonly tags: readonly string[] },
  at: Date,
) => Promise<boolean>;

/** Dependencies of the transaction. */
interface RecordEventsDeps {
  readonly sql: Sql;
  readonly events: Events;
  readonly isCovered: IsCovered;
  readonly metrics: Pick<WatchMetrics, "transitions">;
}

/**
 * Creates the function that commits an observation with everything that follows from it, in one transaction: the state,
 * the status change, the incident, the event and its deliveries.
 */
export function createRecordWithEvents(deps: RecordEventsDeps): RecordWithEvents {
  return async (planned) => {
    const state = await transact(deps.sql, (tx) => record(tx, deps, planned));
    if (state !== null) for (const { kind } of planned.transition.events) deps.metrics.transitions.inc({ kind });
    return state;
  };
}

async function record(
  tx: Transaction,
  { events, isCovered }: RecordEventsDeps,
  planned: PlannedRecord,
): Promise<string | null> {
  const { finished, settings, before, transition, now, record: quiet } = planned;
  const { monitorId, location } = finished.slot;
  const facts = await lockForRecord(tx, finished.slot.accountId, quiet);
  if (facts === null) return null;
  const at = new Date(now);
  const maintenance = await isCovered(tx, { accountId: facts.accountId, monitorId, tags: facts.tags }, at);
  const dependency = dependencyOf(facts, now);
  const suppressedBy = dependency === "down" ? facts.dependsOn : null;
  const context = { maintenance, dependency };
  const noticed = holdNotices(settings, transition, context, now);
  for (const event of noticed.events) {
    const changedAt = statusChangedAt(event, before);
    if (changedAt !== null) {
      await addStatusChange(tx, { monitorId, at: new Date(changedAt), status: noticed.state.status }, at);
    }
  }
  const monitor = watchedOf(planned, facts);
  const outage = await applyToIncident(tx, monitor, { before, noticed, suppressedBy }, at);
  const published = noticed.notices.map((notice) => toNewEvent(monitor, notice, { state: noticed.state, outage }));
  await events.publish(tx, published);
  const { status } = noticed.state;
  const state = encodeState({ ...noticed.state, incidentId: outage.openId });
  await noteLateChecks(tx, [checkOf(planned)], at);
  const recorded = await recordAll(tx, [{ ...quiet, ...extraChecks(location, noticed.rechecks), status, state }]);
  if (!recorded.has(0)) throw new Error("an observation with a locked slot and state was not recorded");
  return state;
}

function dependencyOf(facts: NoticeFacts, now: number): Dependency {
  const { dependencyState, isDependencyChecked, dependencyDueAt } = facts;
  if (dependencyState === null) return "fine";
  const dueAt = dependencyDueAt?.getTime() ?? null;
  return judgeDependency({ state: decodeState(dependencyState), isChecked: isDependencyChecked, dueAt }, now);
}

function watchedOf({ finished }: PlannedRecord, facts: NoticeFacts): OutageFacts {
  const { slot, monitor } = finished;
  const { accountId, name } = facts;
  return {
    id: slot.monitorId,
    accountId,
    name,
    url: monitor.url,
    checkType: monitor.checkType,
    settings: monitor.settings,
  };
}
