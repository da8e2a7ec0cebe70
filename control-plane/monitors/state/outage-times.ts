import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import type { Votes } from "#control-plane/monitors/state/votes.ts";

/** The facts about the time before a change of status. */
type Before = Pick<MonitorState, "lastKnown" | "changedAt" | "knownSince" | "failing">;

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
 * Returns when a monitor recovered: the first good check, after its status last changed, of the locations that vote up.
 * Locations that were up all the time do not date it; if there are no others, because failing ones fell silent, it
 * recovers now.
 */
export function recoveryStart({ changedAt }: Before, { up }: Votes, now: number): number {
  const since = up.map(({ known }) => known.since).filter((time) => changedAt === null || time >= changedAt);
  return since.length > 0 ? Math.min(...since) : now;
}
