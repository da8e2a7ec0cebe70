import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import { whereServed, type Served } from "#control-plane/watching/checking/watch/served.ts";
import type { WatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";

/** What claims leave out, learned from slots that were claimed and could not be served. */
interface KnownAbsences {
  /** Locations without a shared agent at this replica. */
  readonly absent: readonly string[];
  /** Those of them without one at any replica. */
  readonly unserved: readonly string[];
  readonly privateAccounts: readonly number[];
}

/** Remembers which locations this replica cannot serve, until an agent attaches or leaves. */
interface Absences {
  known(): KnownAbsences;
  /** Decides where a location is served for an account, and remembers it. */
  whereServed(accountId: number, location: string): Served;
}

/** Maximum number of locations remembered. The slots of others are claimed and released. */
const MOST_REMEMBERED = 1_000;

/** Creates the memory of one replica. */
export function createAbsences(roster: Roster, monitors: WatchedMonitors): Absences {
  const absent = new Map<string, Served>();
  let shared: readonly Candidate[] | null = null;
  let privateAccounts: readonly number[] = [];

  /** Forgets everything when the agents have changed: the roster then makes a new list. */
  function follow(): readonly Candidate[] {
    const { list } = roster.candidates(null);
    if (list !== shared) {
      shared = list;
      absent.clear();
      const owners = Array.from(roster.sessions(), ({ candidate }) => candidate.accountId);
      privateAccounts = [...new Set(owners.filter((owner) => owner !== null))];
    }
    return list;
  }

  return {
    known() {
      follow();
      const unserved = Array.from(absent, ([location, served]) => (served === "nowhere" ? location : null));
      return {
        absent: [...absent.keys()],
        unserved: unserved.filter((location) => location !== null),
        privateAccounts,
      };
    },
    whereServed(accountId, location) {
      const list = follow();
      const items = monitors.location(location);
      if (items === null) return "nowhere";
      const remembered = absent.get(location) ?? whereServed(list, items);
      if (remembered !== "here" && absent.size < MOST_REMEMBERED) absent.set(location, remembered);
      if (remembered === "here" || !privateAccounts.includes(accountId)) return remembered;
      return whereServed(roster.candidates(accountId).list, items);
    },
  };
}
