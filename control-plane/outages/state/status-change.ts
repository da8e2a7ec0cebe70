import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";
import { outageStart, recoveryStart } from "#control-plane/outages/state/outage-times.ts";
import type { MonitorState, Status } from "#control-plane/outages/state/state.ts";
import type { Votes } from "#control-plane/outages/state/votes.ts";

/** A change of status. */
interface StatusChange {
  readonly event: StateEvent;
  /** When the new last known status began. */
  readonly knownSince: number | null;
}

/** What a change of status is made of. */
interface Evidence {
  readonly votes: Votes;
  readonly failing: readonly FailingLocation[];
  /** Configured locations without a fresh verdict. */
  readonly silent: readonly string[];
}

/** Describes the change to another status; null if the status stays. Times are Unix milliseconds. */
export function describeChange(
  before: MonitorState,
  status: Status,
  { votes, failing, silent }: Evidence,
  now: number,
): StatusChange | null {
  const { status: previous, lastKnown } = before;
  if (status === "down" && previous !== "down") {
    const isNotice = lastKnown !== "down";
    const startedAt = isNotice ? outageStart(before, votes) : (before.knownSince ?? now);
    return { event: { kind: "down", at: now, startedAt, previous, isNotice, failing }, knownSince: startedAt };
  }
  if (status === "up" && previous !== "up") {
    const recoveredAt = recoveryStart(before, votes, now);
    const event: StateEvent = { kind: "up", at: now, recoveredAt, previous, isNotice: lastKnown === "down" };
    return { event, knownSince: lastKnown === "up" ? before.knownSince : recoveredAt };
  }
  if (status === "unknown" && previous !== "unknown") {
    return { event: { kind: "unknown", at: now, previous, silent }, knownSince: before.knownSince };
  }
  return null;
}
