import { applyPing, type HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { addVerdict } from "#control-plane/watching/heartbeats/verdicts.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { CheckFault, MonitorState, StateSettings } from "#control-plane/outages/state/state.ts";

/** A ping to store. */
export interface StoredPing extends Ping {
  /** 1 for the first ping of a heartbeat. */
  readonly number: number;
  readonly durationMs: number | null;
}

/** What follows from waiting pings of one heartbeat. What follows for its status, judgeNext decides later. */
interface FoldedPings {
  readonly record: HeartbeatRecord;
  /** In the order of their arrival. */
  readonly stored: readonly StoredPing[];
}

/** A heartbeat as it was read. */
export interface PingedHeartbeat {
  readonly record: HeartbeatRecord;
  readonly settings: HeartbeatSettings;
  readonly stateSettings: StateSettings;
  readonly state: MonitorState;
}

/** Applies pings in the order of their arrival. */
export function foldPings(heartbeat: PingedHeartbeat, pings: readonly Ping[]): FoldedPings {
  const { settings, state } = heartbeat;
  let { record } = heartbeat;
  let failedAt = reportedFailureAt(heartbeat);
  const stored: StoredPing[] = [];
  for (const ping of pings) {
    const { verdict, fault, durationMs, ...applied } = applyPing(record, settings, ping, failedAt);
    ({ record } = applied);
    const number = record.pingCount;
    stored.push({ ...ping, number, durationMs });
    if (verdict === null || isKnown({ record, state }, verdict, fault)) continue;
    const { receivedAt: at } = ping;
    record = { ...record, verdicts: addVerdict(record.verdicts, { number, at, fault, durationMs }) };
    failedAt = verdict === "down" ? at : null;
  }
  return { record, stored };
}

/**
 * Returns when the failure was reported for which a monitor is down, or will be; null if it is not down, or for another
 * reason. The verdict of the state can have a later time than its ping: that of the change before it. No ping has
 * arrived since `lastPingAt`.
 */
function reportedFailureAt({
  record: { verdicts, lastPingAt },
  state,
}: Pick<PingedHeartbeat, "record" | "state">): number | null {
  const newest = verdicts.at(-1);
  if (newest !== undefined) return newest.fault === null ? null : newest.at;
  const known = state.locations.get(HEARTBEAT_LOCATION);
  if (state.status !== "down" || known?.fault?.reason !== "heartbeat_failed") return null;
  return Math.min(known.at, lastPingAt ?? known.at);
}

/** Reports whether a verdict changes nothing about the state, or about what it will be, so that it need not be written. */
function isKnown(
  { record, state }: Pick<PingedHeartbeat, "record" | "state">,
  verdict: "up" | "down",
  fault: CheckFault | null,
): boolean {
  const newest = record.verdicts.at(-1);
  if (newest !== undefined) return (newest.fault === null) === (fault === null);
  if (state.status !== verdict || state.isFlapping) return false;
  if (verdict === "up") return true;
  return state.silenced === null && state.locations.get(HEARTBEAT_LOCATION)?.fault?.reason === fault?.reason;
}
