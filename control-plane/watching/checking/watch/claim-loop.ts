import type { App } from "#control-plane/core/app.ts";
import type { Roster } from "#control-plane/checks/dispatch/roster.ts";
import { claimEntries, releaseEntries, type ClaimedEntry } from "#control-plane/watching/checking/schedule/store.ts";
import type { WatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import { whereServed, type Served } from "#control-plane/watching/checking/watch/served.ts";

/** Claims due schedule entries while there is room for their checks. */
interface ClaimLoop {
  /** Looks for due schedule entries now instead of at the next tick. */
  wake(): void;
  /** Claims nothing more. Resolves when a running claim has ended. */
  stop(): Promise<void>;
}

/** Dependencies of the loop. */
interface ClaimLoopDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  readonly roster: Roster;
  readonly replicaId: string;
  readonly monitors: WatchedMonitors;
  /** Number of checks that run or wait to be recorded. */
  readonly busy: () => number;
  /** Accounts whose schedule entries are left alone for now. */
  readonly fullAccounts: () => readonly number[];
  /** Runs the check of a schedule entry that is served here. */
  readonly check: (entry: ClaimedEntry) => void;
  /** Records that no probe anywhere can serve a schedule entry. */
  readonly recordNoAgent: (entry: ClaimedEntry) => void;
}

/** Maximum number of checks that run or wait to be recorded at the same time in one replica. */
export const MOST_BUSY = 2_000;
/** Maximum number of schedule entries of one claim. */
export const MOST_CLAIMED = 250;
/**
 * Time between two claims, in milliseconds. Half of it is the usual schedule lag. With 50 ms, a check at 100 a second takes
 * 1.29 ms of a processor instead of 1.03: the cost of a claim hardly depends on how many it brings.
 */
const TICK_MS = 100;
/**
 * Replicas claim in turns: each at every nth tick, n being their number, so that the service asks ten times a second and
 * not each replica. Four replicas with 6,000 monitors took 21 % of a core for control plane and database where one takes 6.
 * A check that only one of them can serve waits for its turn, at most half a second.
 */
const MOST_TURNS = 5;
/** Time beyond a check's timeout after which another replica repeats it, in milliseconds. */
const LEASE_GRACE_MS = 10_000;
/**
 * Time for agents to attach after the start of a replica before their locations count as withoutAgent, in milliseconds.
 */
const ATTACH_MS = 30_000;
/**
 * Time after which a schedule entry that is not served here, and that claims cannot leave out, is claimed again, in
 * milliseconds.
 */
const RELEASED_MS = 1_000;
const LEASE_BYTES = 6;
/**
 * A claim that leaves accounts out reads over all their due schedule entries. Then the pause between two claims is this
 * many times as long as a claim takes, at most MOST_PAUSE_MS, so that the database does not spend its time with that.
 */
const PAUSE_TIMES = 9;
const MOST_PAUSE_MS = 500;

/** Starts to claim schedule entries. */
export function startClaimLoop(deps: ClaimLoopDeps): ClaimLoop {
  const { sql, clock, random, log, roster, monitors } = deps;
  const absences = createAbsences(roster, monitors);
  const startedAt = clock.monotonic();
  let running: Promise<void> | null = null;
  /** Monotonic time until which nothing is claimed while accounts are left out. */
  let pausedUntil = 0;
  const stopping = new AbortController();

  async function claimOnce(): Promise<number> {
    const most = Math.min(MOST_CLAIMED, MOST_BUSY - deps.busy());
    if (most <= 0) return 0;
    const now = clock.now();
    const hasWaited = clock.monotonic() - startedAt > ATTACH_MS;
    const { absent, withoutAgent, privateAccounts } = absences.known();
    const fullAccounts = deps.fullAccounts();
    const beganAt = clock.monotonic();
    const entries = await claimEntries(sql, {
      now,
      most,
      lease: Buffer.from(random.bytes(LEASE_BYTES)).readUIntBE(0, LEASE_BYTES) + 1,
      claimedBy: deps.replicaId,
      graceMs: LEASE_GRACE_MS,
      absent,
      withoutAgent: hasWaited ? withoutAgent : [],
      privateAccounts,
      fullAccounts,
    });
    const tookMs = clock.monotonic() - beganAt;
    pausedUntil = fullAccounts.length === 0 ? 0 : beganAt + tookMs + Math.min(PAUSE_TIMES * tookMs, MOST_PAUSE_MS);
    const released: ClaimedEntry[] = [];
    for (const entry of entries) {
      const served = absences.whereServed(entry.accountId, entry.location);
      const lateMs = now.getTime() - entry.plannedAt.getTime();
      if (served === "here") deps.check(entry);
      else if (served === "nowhere" && hasWaited && lateMs >= entry.intervalSeconds * 1_000) deps.recordNoAgent(entry);
      else released.push(entry);
    }
    // After a restart the most overdue schedule entries are claimed before agents have attached. They must stay the
    // first.
    const next = absences.known();
    const isLeftOut = ({ accountId, location }: ClaimedEntry) =>
      next.absent.includes(location) && !next.privateAccounts.includes(accountId);
    const [leftOut, others] = [released.filter(isLeftOut), released.filter((entry) => !isLeftOut(entry))];
    const soon = new Date(now.getTime() + RELEASED_MS);
    if (leftOut.length > 0)
      await releaseEntries(
        sql,
        leftOut.map((entry) => ({ ...entry, dueAt: null })),
      );
    if (others.length > 0)
      await releaseEntries(
        sql,
        others.map((entry) => ({ ...entry, dueAt: soon })),
      );
    return entries.length;
  }

  async function claimAll(): Promise<void> {
    try {
      while (!stopping.signal.aborted && (await claimOnce()) === MOST_CLAIMED);
    } catch (error) {
      log.debug({ err: error }, "monitors: due checks could not be claimed; the next attempt follows");
    }
  }

  function wake(): void {
    if (stopping.signal.aborted || running !== null) return;
    if (clock.monotonic() < pausedUntil && deps.fullAccounts().length > 0) return;
    running = claimAll().finally(() => {
      running = null;
    });
  }

  let turn = 0;
  const ticks = deps.timers.repeat(TICK_MS, () => {
    turn += 1;
    if (turn < Math.min(roster.replicas(), MOST_TURNS)) return;
    turn = 0;
    wake();
  });
  return {
    wake,
    async stop() {
      stopping.abort();
      ticks.stop();
      await running;
    },
  };
}

/** What claims leave out, learned from schedule entries that were claimed and could not be served. */
interface KnownAbsences {
  /** Locations without a shared agent at this replica. */
  readonly absent: readonly string[];
  /** Those of them without one at any replica. */
  readonly withoutAgent: readonly string[];
  readonly privateAccounts: readonly number[];
}

/** Remembers which locations this replica cannot serve, until an agent attaches or leaves. */
interface Absences {
  known(): KnownAbsences;
  /** Decides where a location is served for an account, and remembers it. */
  whereServed(accountId: number, location: string): Served;
}

/** Maximum number of locations remembered. The schedule entries of others are claimed and released. */
const MOST_REMEMBERED = 1_000;

/** Creates the memory of one replica. */
function createAbsences(roster: Roster, monitors: WatchedMonitors): Absences {
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
      const withoutAgent = Array.from(absent, ([location, served]) => (served === "nowhere" ? location : null));
      return {
        absent: [...absent.keys()],
        withoutAgent: withoutAgent.filter((location) => location !== null),
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
