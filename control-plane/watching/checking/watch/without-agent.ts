import type { Clock } from "#shared/time/clock.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import { whereServed } from "#control-plane/watching/checking/watch/served.ts";
import type { WatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";

/** Knows which locations no connected probe serves, at this replica or at others. */
interface WithoutAgent {
  /** Returns those among the locations of an account's monitor that have had no connected probe for some time. */
  among(accountId: number, locations: readonly string[]): readonly string[];
}

/**
 * Time for which a location must be without a probe, milliseconds. One that has lost its stream attaches again within 15 s,
 * and until then its newest verdicts count: otherwise a location that fails alone would make monitors down whenever the
 * probes of the others reconnect.
 */
const ABSENT_MS = 20_000;
/** Maximum number of locations that are remembered as being without a probe. */
const MOST_REMEMBERED = 10_000;

/** Creates the knowledge of one replica. The absence of a location begins when it is first looked up and has no probe. */
export function createWithoutAgent({
  roster,
  monitors,
  clock,
}: {
  readonly clock: Pick<Clock, "monotonic">;
  readonly roster: Pick<Roster, "candidates">;
  readonly monitors: Pick<WatchedMonitors, "location">;
}): WithoutAgent {
  /** Since when a location has no probe, monotonic milliseconds, by account and location; account 0: only shared ones. */
  const absentSince = new Map<string, number>();
  // The roster makes a new list when an agent attaches or leaves.
  const known = new WeakMap<readonly Candidate[], Map<string, boolean>>();

  function isServed(list: readonly Candidate[], location: string): boolean {
    let answers = known.get(list);
    if (answers === undefined || answers.size >= MOST_REMEMBERED) known.set(list, (answers = new Map()));
    let answer = answers.get(location);
    if (answer === undefined) {
      const items = monitors.location(location);
      answer = items !== null && whereServed(list, items) !== "nowhere";
      answers.set(location, answer);
    }
    return answer;
  }

  return {
    among(accountId, locations) {
      if (locations.length < 2) return [];
      const { list } = roster.candidates(accountId);
      const owner = list === roster.candidates(null).list ? 0 : accountId;
      const now = clock.monotonic();
      return locations.filter((location) => {
        const key = `${owner} ${location}`;
        if (isServed(list, location)) {
          absentSince.delete(key);
          return false;
        }
        const since = absentSince.get(key);
        if (since !== undefined) return now - since >= ABSENT_MS;
        if (absentSince.size >= MOST_REMEMBERED) absentSince.clear();
        absentSince.set(key, now);
        return false;
      });
    },
  };
}
