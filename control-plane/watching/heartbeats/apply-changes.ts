import type { Transaction } from "#control-plane/core/database/connect.ts";
import {
  lockHeartbeats,
  writeChanges,
  writeJudged,
  type ChangedHeartbeat,
  type JudgedHeartbeat,
  type LockedHeartbeat,
} from "#control-plane/watching/heartbeats/changes-store.ts";
import { judgeNext } from "#control-plane/watching/heartbeats/judge.ts";
import { readRecord } from "#control-plane/watching/heartbeats/rows.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { heartbeatStateSettings } from "#control-plane/watching/heartbeats/state-settings.ts";
import { nextSweep } from "#control-plane/watching/heartbeats/decide-sweep.ts";
import type { PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { judgeDependency, type Dependency } from "#control-plane/outages/state/notices.ts";
import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import {
  applyChanges,
  type ApplyDeps,
  type MonitorChange,
} from "#control-plane/watching/checking/watch/apply-changes.ts";

/** A locked heartbeat, parsed. */
interface OpenHeartbeat extends PingedHeartbeat {
  readonly row: LockedHeartbeat;
}

/** A change of the state of a heartbeat. */
export type HeartbeatChange = {
  readonly heartbeat: OpenHeartbeat;
  /** Unix milliseconds. */
  readonly at: number;
  readonly transition: Transition;
} & (
  | {
      readonly cause: "time";
      /** The deadline from then on; Unix milliseconds. */
      readonly deadlineAt: number | null;
    }
  | {
      readonly cause: "ping";
      /** Number of the ping. */
      readonly number: number;
    }
);

/** Parses a locked heartbeat. Returns null if its monitor is paused or is no heartbeat. */
export function openHeartbeat(row: LockedHeartbeat): OpenHeartbeat | null {
  const all = readStoredSettings(row.settings);
  const settings: HeartbeatSettings | null = all.heartbeat;
  if (!row.isActive || settings === null) return null;
  return {
    row,
    record: readRecord(row),
    settings,
    stateSettings: heartbeatStateSettings(all),
    state: decodeState(row.state),
  };
}

/**
 * Writes changes of different heartbeats with everything that follows from them: the states, the history, incidents and
 * events. The rows are locked (lockHeartbeats), and for changes by time their pings are stopped. `now` is Unix
 * milliseconds.
 */
export async function applyHeartbeatChanges(
  tx: Transaction,
  deps: ApplyDeps,
  changes: readonly HeartbeatChange[],
  now: number,
): Promise<void> {
  if (changes.length === 0) return;
  const applied = await applyChanges(tx, deps, changes.map(toMonitorChange), new Date(now));
  const byTime: ChangedHeartbeat[] = [];
  const byPing: JudgedHeartbeat[] = [];
  changes.forEach((change, index) => {
    const made = applied[index];
    if (made === undefined) throw new Error("a change of a heartbeat has no result");
    const { state } = made;
    const written = { monitorId: change.heartbeat.row.monitorId, status: state.status, state: encodeState(state) };
    if (change.cause === "time") {
      const { deadlineAt } = change;
      byTime.push({ ...written, deadlineAt, sweepAt: nextSweep(state, made, deadlineAt, now) });
    } else {
      byPing.push({ ...written, number: change.number, sweepAt: nextSweep(state, made, null, now) });
    }
  });
  if (byTime.length > 0) await writeChanges(tx, byTime);
  if (byPing.length > 0) await writeJudged(tx, byPing);
}

/**
 * Makes the state of each of these monitors follow the oldest verdict of its pings that it does not know. Their pings are
 * recorded meanwhile. Returns the monitors that have more such verdicts. `now` is Unix milliseconds.
 */
export async function judgeHeartbeats(
  tx: Transaction,
  deps: ApplyDeps,
  ids: readonly number[],
  now: number,
): Promise<readonly number[]> {
  const locked = await lockHeartbeats(tx, ids, { skip: false, stopsPings: false });
  const changes = locked.flatMap((row): HeartbeatChange[] => {
    const heartbeat = openHeartbeat(row);
    const judged = heartbeat === null ? null : judgeNext(heartbeat);
    return heartbeat === null || judged === null ? [] : [{ heartbeat, ...judged, cause: "ping" }];
  });
  await applyHeartbeatChanges(tx, deps, changes, now);
  return changes.flatMap(({ heartbeat: { row, record } }) => (record.verdicts.length > 1 ? row.monitorId : []));
}

function toMonitorChange({ heartbeat, transition, at }: HeartbeatChange): MonitorChange {
  const { row, stateSettings, state } = heartbeat;
  return {
    monitor: {
      id: row.monitorId,
      accountId: row.accountId,
      name: row.name,
      url: row.url,
      checkType: "heartbeat",
      settings: readStoredSettings(row.settings),
      tags: row.tags,
      dependsOn: row.dependsOn,
    },
    settings: stateSettings,
    before: state,
    transition,
    dependency: dependencyOf(row, at),
    now: at,
  };
}

function dependencyOf(row: LockedHeartbeat, at: number): Dependency {
  const { dependencyState, isDependencyChecked, dependencyDueAt } = row;
  if (dependencyState === null) return "fine";
  const dueAt = dependencyDueAt?.getTime() ?? null;
  return judgeDependency({ state: decodeState(dependencyState), isChecked: isDependencyChecked, dueAt }, at);
}
