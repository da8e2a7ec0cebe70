import type { PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { transition, type Transition } from "#control-plane/outages/state/transition.ts";

/** What follows from the verdict of a ping. */
interface Judgement {
  /** Number of the ping. */
  readonly number: number;
  /** Time of the change, Unix milliseconds. */
  readonly at: number;
  readonly transition: Transition;
}

/** Returns what follows from the oldest verdict that the state of the monitor does not know; null if it knows all. */
export function judgeNext({
  record,
  stateSettings,
  state,
}: Pick<PingedHeartbeat, "record" | "stateSettings" | "state">): Judgement | null {
  const [oldest] = record.verdicts;
  if (oldest === undefined) return null;
  const { number, fault, durationMs } = oldest;
  // The sweeper can have found it late while the ping waited to be recorded: the ping is newer news.
  const at = Math.max(oldest.at, state.changedAt ?? 0, state.locations.get(HEARTBEAT_LOCATION)?.at ?? 0);
  const verdict = fault === null ? "up" : "down";
  const observation = { location: HEARTBEAT_LOCATION, verdict, beganAt: at, fault, isRecheck: false } as const;
  return { number, at, transition: transition(stateSettings, state, { ...observation, responseMs: durationMs }, at) };
}
