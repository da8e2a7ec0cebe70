import type { AgentMessage, Beat } from "#shared/protocol/probe.ts";
import { creditFloor, rebalance, shareCredits, type StreamGrant } from "#probe-agent/attachment/credits.ts";

/** A stream that has credits. */
interface CreditedStream {
  say(message: AgentMessage): void;
}

/** Credits of the replicas: how many concurrent jobs each may run on this agent. */
export interface CreditGrants<S extends CreditedStream> {
  /** Adds a stream that a replica has welcomed and divides the pool again. */
  add(stream: S): void;
  /** Removes a lost stream, whose credits go to the others. Does nothing for a stream that was never added. */
  remove(stream: S): void;
  /** Records how many jobs wait at the replica for a credit, from its heartbeat. */
  setWaiting(stream: S, waiting: number): void;
  /**
   * Called when a job of the stream was declined because the pool was full. The replica sends no more jobs until the
   * next heartbeat.
   */
  holdBack(stream: S): void;
  /** Called when a job began or ended. Within 50 ms the credits move to where they are needed. */
  jobsChanged(): void;
  /**
   * Returns the credits for the hello of the next stream. `sharesPool`: its replica can take a smaller share than the
   * whole pool.
   */
  helloCredits(sharesPool: boolean): number;
  /** Returns the contents of a stream's next heartbeat. */
  beatOf(stream: S): Beat;
  /** Returns the streams that were added, in order. */
  streams(): readonly S[];
  /** Returns the credits of all streams together. */
  total(): number;
  stop(): void;
}

/** Inputs of the credits. */
interface CreditGrantOptions<S> {
  /** Maximum number of concurrent jobs over all streams. */
  readonly maxJobs: number;
  /** Counts running jobs of one stream, or of all. */
  readonly running: (stream?: S) => number;
  /** Worst recent delay of this process's event loop, in milliseconds. */
  readonly loopLagMs: () => number;
}

/** Minimum time between a change of jobs and the heartbeat that reports it, in milliseconds. */
const EARLY_BEAT_MS = 50;
/** Maximum interval between two divisions of the credits, in milliseconds. */
const SHARE_MS = 1_000;

interface Account {
  granted: number;
  waiting: number;
  /** Whether the replica sends no jobs until the next heartbeat. */
  heldBack: boolean;
}

/** Divides the agent's pool of jobs among its streams and sends each replica its new credits. */
export function createCreditGrants<S extends CreditedStream>(options: CreditGrantOptions<S>): CreditGrants<S> {
  const { maxJobs, running, loopLagMs } = options;
  const accounts = new Map<S, Account>();
  let early: NodeJS.Timeout | null = null;

  const demands = (): StreamGrant[] =>
    Array.from(accounts, ([stream, { granted, waiting }]) => ({ granted, waiting, running: running(stream) }));
  const beatOf = (stream: S): Beat => ({
    running: running(),
    credits: accounts.get(stream)?.granted ?? 0,
    loopLagMs: loopLagMs(),
    waiting: 0,
  });
  const sendBeat = (stream: S) => stream.say({ body: { $case: "beat", value: beatOf(stream) } });

  /** Sends changed credits, reductions first, so that the replicas never hold more credits than the pool has. */
  function grant(shares: readonly number[]): void {
    const changes = Array.from(accounts, ([stream, account], index) => ({ stream, account, share: shares[index] ?? 0 }))
      .filter(({ account, share }) => account.granted !== share)
      .toSorted((a, b) => a.share - a.account.granted - (b.share - b.account.granted));
    for (const { stream, account, share } of changes) {
      account.granted = share;
      sendBeat(stream);
    }
  }

  function shareOut(): void {
    if (accounts.size > 0) grant(shareCredits(maxJobs, demands()));
  }

  function jobsChanged(): void {
    const mayMove = accounts.size > 1 || [...accounts.values()].some(({ heldBack }) => heldBack);
    if (mayMove) early ??= setTimeout(sendEarlyBeats, EARLY_BEAT_MS);
  }

  function sendEarlyBeats(): void {
    early = null;
    const shares = rebalance(maxJobs, demands());
    if (shares !== null) grant(shares);
    if (running() >= maxJobs) return;
    for (const [stream, account] of accounts) {
      if (!account.heldBack) continue;
      account.heldBack = false;
      sendBeat(stream);
    }
  }

  const sharing = setInterval(shareOut, SHARE_MS);
  return {
    add(stream) {
      accounts.set(stream, { granted: 0, waiting: 0, heldBack: false });
      shareOut();
    },
    remove(stream) {
      if (accounts.delete(stream)) shareOut();
    },
    setWaiting(stream, waiting) {
      const account = accounts.get(stream);
      if (account === undefined || account.waiting === waiting) return;
      account.waiting = waiting;
      jobsChanged();
    },
    holdBack(stream) {
      const account = accounts.get(stream);
      if (account !== undefined) account.heldBack = true;
    },
    jobsChanged,
    helloCredits: (sharesPool) =>
      sharesPool && accounts.size > 0 ? Math.max(1, creditFloor(maxJobs, accounts.size + 1)) : maxJobs,
    beatOf,
    streams: () => [...accounts.keys()],
    total: () => demands().reduce((total, { granted }) => total + granted, 0),
    stop() {
      clearInterval(sharing);
      if (early !== null) clearTimeout(early);
    },
  };
}
