import { decodeState, encodeState } from "#control-plane/outages/state/encoding.ts";
import type { Recheck } from "#control-plane/outages/state/rechecks.ts";
import type { StateSettings, MonitorState } from "#control-plane/outages/state/state.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";
import { encodeGoodCheck } from "#control-plane/watching/checking/snapshots/good-check.ts";
import { encodePhases } from "#control-plane/watching/checking/snapshots/phases.ts";
import { nextPlanned } from "#control-plane/watching/checking/schedule/planned-time.ts";
import type { ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import { findChangedCauses } from "#control-plane/watching/checking/watch/changed-causes.ts";
import type { Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { stateSettings, type WatchedMonitor } from "#control-plane/watching/checking/watch/watched.ts";
import type { NewRecord } from "#control-plane/watching/checking/watch/store.ts";

/** A finished check that waits to be recorded. */
export interface Finished {
  readonly entry: ClaimedEntry;
  readonly monitor: WatchedMonitor;
  /** Replaced if it cannot be recorded (recorder.ts). */
  finding: Finding;
  /** Unix milliseconds of its beginning. */
  readonly beganAt: number;
  /** Beginning minus the time it was planned or wanted for, milliseconds. */
  readonly lagMs: number;
  /** An extra check that the service made to confirm something. */
  readonly isRecheck: boolean;
  /** Locations of the monitor that no connected probe serves (withoutAgent.ts). */
  readonly withoutAgent: readonly string[];
  /** JSON of the state to continue from; read again if it is stale. */
  state: string;
  stateVersion: number;
}

/** A finished check with what follows from it. */
export interface PlannedRecord {
  readonly finished: Finished;
  readonly settings: StateSettings;
  /** The state from which the transition begins. */
  readonly before: MonitorState;
  readonly transition: Transition;
  /** Time of the transition, Unix milliseconds. */
  readonly now: number;
  readonly record: NewRecord;
  /** Nothing but the state changes, not even the cause of an outage: it can be recorded together with others. */
  readonly isQuiet: boolean;
}

/** Status of a check in the history, by verdict. */
const CHECK_STATUS = { up: 1, down: 2, unknown: 3 } as const;
const DEGRADED = 4;

/** Computes what a finished check changes. `now` is Unix milliseconds. */
export function planRecord(finished: Finished, now: number): PlannedRecord {
  const { entry, monitor, finding, beganAt, isRecheck } = finished;
  const settings = stateSettings(monitor, entry, finished.withoutAgent);
  const before = decodeState(finished.state);
  const made = transition(
    settings,
    before,
    {
      location: entry.location,
      verdict: finding.verdict,
      beganAt,
      responseMs: finding.responseMs,
      fault: finding.fault,
      isRecheck,
    },
    now,
  );
  const isExtra = isExtraCheck(entry, beganAt);
  const next = isExtra
    ? { at: entry.plannedAt.getTime(), missed: 0 }
    : nextPlanned(entry.plannedAt.getTime(), now, entry);
  // As in the state: where the clock was set back during the check, the outage begins when this check does. Its planned
  // time stays what it was.
  const checkedAt = Math.min(beganAt, now);
  const isSlow = settings.degradedMs !== null && (finding.responseMs ?? 0) > settings.degradedMs;
  return {
    finished,
    settings,
    before,
    transition: made,
    now,
    isQuiet:
      made.events.length === 0 &&
      before.silenced === null &&
      findChangedCauses(monitor, before, made.state).length === 0,
    record: {
      monitorId: entry.monitorId,
      location: entry.location,
      lease: entry.lease,
      stateVersion: finished.stateVersion,
      status: made.state.status,
      state: encodeState(made.state),
      nextPlannedAt: next.at,
      ...extraChecks(entry.location, made.rechecks),
      claimedExtraAt: entry.extraAt?.getTime() ?? null,
      check: {
        checkedAt,
        status: finding.verdict === "up" && isSlow ? DEGRADED : CHECK_STATUS[finding.verdict],
        responseMs: finding.responseMs,
        httpStatus: finding.httpStatus,
        phases: encodePhases(finding.phases),
        good: finding.verdict === "up" ? encodeGoodCheck(finding) : null,
        lagMs: Math.max(0, finished.lagMs - (beganAt - checkedAt)),
        isRecheck,
        missed: next.missed,
        fault: finding.fault === null ? null : JSON.stringify(finding.fault),
      },
    },
  };
}

/** Names the check of a record for its roll-up. */
export function checkOf({ record }: PlannedRecord): { readonly monitorId: number; readonly checkedAt: Date } {
  return { monitorId: record.monitorId, checkedAt: new Date(record.check.checkedAt) };
}

/** Splits extra checks into that of the recorded schedule entry and those of the monitor's other schedule entries. */
export function extraChecks(location: string, rechecks: readonly Recheck[]): Pick<NewRecord, "extraAt" | "rechecks"> {
  return {
    extraAt: rechecks.find((recheck) => recheck.location === location)?.at ?? null,
    rechecks: rechecks.filter((recheck) => recheck.location !== location),
  };
}

/** Reports whether a claimed schedule entry was due for its extra check only; its planned check then keeps its time. */
export function isExtraCheck(entry: Pick<ClaimedEntry, "plannedAt" | "extraAt">, beganAt: number): boolean {
  return entry.extraAt !== null && entry.plannedAt.getTime() > beganAt;
}

/** Returns how much later than wanted a check of a claimed schedule entry begins, in milliseconds. */
export function latenessMs(entry: Pick<ClaimedEntry, "plannedAt" | "extraAt">, beganAt: number): number {
  const wantedAt = isExtraCheck(entry, beganAt) && entry.extraAt !== null ? entry.extraAt : entry.plannedAt;
  return Math.max(0, beganAt - wantedAt.getTime());
}
