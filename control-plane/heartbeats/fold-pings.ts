import { applyPing, type HeartbeatRecord } from "#control-plane/heartbeats/apply-ping.ts";
import type { Ping } from "#control-plane/heartbeats/ping.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/heartbeats/state-settings.ts";
import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";
import type { CheckFault } from "#control-plane/monitors/state/observation.ts";
import type { StateSettings } from "#control-plane/monitors/state/settings.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import { transition, type Transition } from "#control-plane/monitors/state/transition.ts";

/** A ping to store. */
export interface StoredPing extends Ping {
  /** 1 for the first ping of a heartbeat. */
  readonly number: number;
  readonly durationMs: number | null;
}

/** A change of the monitor's state by a ping. */
interface PingChange {
  /** Unix milliseconds. */
  readonly at: number;
  readonly transition: Transition;
}

/** What follows from waiting pings of one heartbeat. */
interface FoldedPings {
  /** Number of pings that were taken: all, or those up to the first that changes the state. */
  readonly taken: number;
  readonly record: HeartbeatRecord;
  /** In the order of their arrival. */
  readonly stored: readonly StoredPing[];
  /** null: only the record changes. */
  readonly change: PingChange | null;
}

/** A heartbeat as it was read. */
export interface PingedHeartbeat {
  readonly record: HeartbeatRecord;
  readonly settings: HeartbeatSettings;
  readonly stateSettings: StateSettings;
  readonly state: MonitorState;
}

/** Applies pings in the order of their arrival, and stops after the first that changes the monitor's state. */
export function foldPings(heartbeat: PingedHeartbeat, pings: readonly Ping[]): FoldedPings {
  const { settings, stateSettings, state } = heartbeat;
  let { record } = heartbeat;
  const stored: StoredPing[] = [];
  const failedAt = reportedFailureAt(heartbeat);
  for (const ping of pings) {
    const applied = applyPing(record, settings, ping, failedAt);
    ({ record } = applied);
    stored.push({ ...ping, number: record.pingCount, durationMs: applied.durationMs });
    const { verdict, fault } = applied;
    if (verdict === null || isKnown(state, verdict, fault)) continue;
    // The sweeper can have found it late while the ping waited to be recorded: the ping is newer news.
    const at = Math.max(ping.receivedAt, state.changedAt ?? 0, state.locations.get(HEARTBEAT_LOCATION)?.at ?? 0);
    const observation = { location: HEARTBEAT_LOCATION, verdict, beganAt: at, fault, isRecheck: false };
    const made = transition(stateSettings, state, { ...observation, responseMs: applied.durationMs }, at);
    return { taken: stored.length, record, stored, change: { at, transition: made } };
  }
  return { taken: stored.length, record, stored, change: null };
}

/**
 * Returns when the failure was reported for which a monitor is down; null: it is not down, or for another reason. The
 * verdict can have a later time than its ping: that of the change before it. No ping has arrived since `lastPingAt`.
 */
function reportedFailureAt({
  record: { lastPingAt },
  state,
}: Pick<PingedHeartbeat, "record" | "state">): number | null {
  const known = state.locations.get(HEARTBEAT_LOCATION);
  if (state.status !== "down" || known?.fault?.reason !== "heartbeat_failed") return null;
  return Math.min(known.at, lastPingAt ?? known.at);
}

/** Reports whether a verdict changes nothing about the state, so that it need not be written. */
function isKnown(state: MonitorState, verdict: "up" | "down", fault: CheckFault | null): boolean {
  if (state.status !== verdict || state.isFlapping) return false;
  if (verdict === "up") return true;
  return state.held === null && state.locations.get(HEARTBEAT_LOCATION)?.fault?.reason === fault?.reason;
}
