import type { MonitorState } from "#control-plane/outages/state/state.ts";
import type { KnownObservation } from "#control-plane/outages/state/verdicts.ts";
import type { Votes } from "#control-plane/outages/state/votes.ts";

/** The facts about the time before a change of status. */
type Before = Pick<MonitorState, "lastKnown" | "changedAt" | "knownSince" | "failedAt" | "failing">;

/** Returns when the newest failing check began, after an observation; null: there is none. Times are Unix milliseconds. */
export function newestFailure(failedAt: number | null, observed: KnownObservation | null, now: number): number | null {
  if (observed?.verdict !== "down") return failedAt;
  const at = Math.min(observed.beganAt, now);
  return failedAt === null ? at : Math.max(failedAt, at);
}

/**
 * Returns when an outage started: the first failing check of the locations that confirm it. A location that has been
 * failing alone does not date it back to a time when the monitor was up; if only such locations confirm it, because
 * others fell silent, it starts with the newest failing check. It never starts before the end of the outage before it.
 */
export function outageStart({ lastKnown, knownSince, failing }: Before, { down }: Votes): number {
  const wasAlone = (location: string): boolean => lastKnown === "up" && failing.includes(location);
  const joined = down.filter(({ location }) => !wasAlone(location));
  const first =
    joined.length > 0
      ? Math.min(...joined.map(({ known }) => known.since))
      : Math.max(...down.map(({ known }) => known.at));
  return lastKnown === "up" && knownSince !== null ? Math.max(first, knownSince) : first;
}

/**
 * Returns when a monitor recovered: the first good check, after its status last changed, of the locations that vote up; at
 * the end of an outage only those after its last failing check count, so that no check of it fails after its end.
 * Locations that were up all the time do not date it; if there are no others, because failing ones fell silent, it
 * recovers now.
 */
export function recoveryStart({ lastKnown, changedAt, failedAt }: Before, { up }: Votes, now: number): number {
  const failed = lastKnown === "down" ? (failedAt ?? -Infinity) : -Infinity;
  const times = up
    .filter(({ known }) => changedAt === null || known.since >= changedAt)
    .map(({ known: { since, at } }) => (since > failed ? since : at))
    .filter((time) => time > failed);
  return times.length > 0 ? Math.min(...times) : now;
}
