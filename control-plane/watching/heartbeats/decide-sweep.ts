import type { HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { CheckFault, MonitorState, StateSettings } from "#control-plane/outages/state/state.ts";
import { nextFlappingLook } from "#control-plane/outages/state/events.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";

/** A heartbeat that is due for a sweep. Times are Unix milliseconds. */
interface DueHeartbeat {
  readonly record: HeartbeatRecord;
  readonly settings: HeartbeatSettings;
  readonly stateSettings: StateSettings;
  readonly state: MonitorState;
  /** End of the time without a replica into which its deadline falls; null: it falls into none. */
  readonly outageEndedAt: number | null;
}

/** What a sweep decides about a heartbeat. */
type SweepDecision =
  /** Nothing changes. The next sweep is at `sweepAt`; null: none is needed before the next ping. */
  | { readonly kind: "wait"; readonly sweepAt: number | null }
  /** Its state changes at `at`, and `deadlineAt` is the deadline from then on. */
  | {
      readonly kind: "change";
      readonly at: number;
      readonly transition: Transition;
      readonly deadlineAt: number | null;
    };

/** Time between two sweeps of a heartbeat whose notice is silenced, in milliseconds. */
const SILENCED_MS = 30_000;

/**
 * Decides what happens to a heartbeat at the time of a sweep. A late one is down from its deadline on, however late the
 * sweep is. While it is down, each sweep repeats the verdict: so reminders become due, and a notice that was silenced is
 * sent when the reason has ended.
 */
export function decideSweep(due: DueHeartbeat, now: number): SweepDecision {
  const { record, state } = due;
  if (state.status === "down") return observeAgain(due, now);
  const { deadlineAt } = record;
  if (deadlineAt === null || deadlineAt > now) return lookAtFlapping(due, now);
  const at = Math.min(now, changeTime(state, deadlineAt));
  return due.outageEndedAt === null ? becomeLate(due, at, deadlineAt) : hold(due, at, due.outageEndedAt);
}

/** Returns when the next sweep is needed after a change. */
export function nextSweep(
  state: MonitorState,
  { rechecks }: Pick<Transition, "rechecks">,
  deadlineAt: number | null,
  now: number,
): number | null {
  const { status, remindAt, silenced } = state;
  if (status !== "down") return earliest(deadlineAt, nextFlappingLook(state, now));
  const lookAt = nextFlappingLook(state, now);
  const times = [
    ...(lookAt === null ? [] : [lookAt]),
    ...(remindAt === null ? [] : [remindAt]),
    ...(silenced === null ? [] : [now + SILENCED_MS]),
    ...rechecks.map(({ at }) => at),
  ];
  return times.length === 0 ? null : Math.min(...times);
}

/** People are notified of the flapping of a heartbeat at times of their own, and its end comes by time alone. */
function lookAtFlapping({ record: { deadlineAt }, stateSettings, state }: DueHeartbeat, now: number): SweepDecision {
  const made = transition(stateSettings, state, null, now);
  if (made.events.length > 0) return { kind: "change", at: now, transition: made, deadlineAt };
  return { kind: "wait", sweepAt: earliest(deadlineAt, nextFlappingLook(state, now)) };
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}

function becomeLate(
  { record, settings, stateSettings, state }: DueHeartbeat,
  at: number,
  deadlineAt: number,
): SweepDecision {
  const observation = observe(at, describeLateness(record, settings, deadlineAt));
  return { kind: "change", at, transition: transition(stateSettings, state, observation, at), deadlineAt };
}

/**
 * The deadline, but not before the newest change: a ping that waited to be recorded ends an outage later than it arrived,
 * and the deadline after it can be earlier than that.
 */
function changeTime({ changedAt, locations }: MonitorState, deadlineAt: number): number {
  return Math.max(deadlineAt, changedAt ?? 0, locations.get(HEARTBEAT_LOCATION)?.at ?? 0);
}

/** Nobody could receive a ping at the deadline: nothing is known until one more grace time has passed. */
function hold({ settings, stateSettings, state }: DueHeartbeat, at: number, endedAt: number): SweepDecision {
  const deadlineAt = Math.max(at, endedAt) + settings.grace_seconds * 1_000;
  const forgotten = { ...state, locations: new Map() };
  return { kind: "change", at, transition: transition(stateSettings, forgotten, null, at), deadlineAt };
}

/** The verdict keeps its time: a success that arrived after it and was not recorded before this sweep is newer. */
function observeAgain({ record, stateSettings, state }: DueHeartbeat, now: number): SweepDecision {
  const known = state.locations.get(HEARTBEAT_LOCATION);
  const made = transition(stateSettings, state, observe(known?.at ?? now, known?.fault ?? null), now);
  return { kind: "change", at: now, transition: made, deadlineAt: record.deadlineAt };
}

function observe(at: number, fault: CheckFault | null) {
  return {
    location: HEARTBEAT_LOCATION,
    verdict: "down",
    beganAt: at,
    responseMs: null,
    fault,
    isRecheck: false,
  } as const;
}

/** Says what did not happen until the deadline: the end of a run, or a ping. */
function describeLateness(
  { openRuns }: HeartbeatRecord,
  { grace_seconds: grace }: HeartbeatSettings,
  at: number,
): CheckFault {
  const [oldest] = openRuns;
  const isRun = oldest !== undefined && oldest.startedAt + grace * 1_000 <= at;
  return {
    stage: "request",
    source: "target",
    reason: isRun ? "heartbeat_unfinished" : "heartbeat_late",
    message: isRun
      ? `the run that started at ${formatTime(oldest.startedAt)} did not finish within ${grace} s`
      : `no ping arrived by ${formatTime(at)}`,
  };
}

/** Formats a time as in "2026-01-31 12:00:00 UTC". */
function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
