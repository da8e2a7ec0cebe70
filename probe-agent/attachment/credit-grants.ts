import type { AgentMessage, Beat } from "#shared/protocol/probe.ts";
import { creditFloor, rebalance, shareCredits, type StreamGrant } from "#probe-agent/attachment/credits.ts";

/** A stream, as needed for its credits. */
interface CreditedStream {
  say(message: AgentMessage): void;
}

/** The credits of each welcomed stream's replica: how many concurrent jobs it may have on this agent. */
export interface CreditGrants<S extends CreditedStream> {
  /** A replica welcomed this stream: divides the pool again. */
  add(stream: S): void;
  /** The stream is lost: the others share its credits. Does nothing for a stream that was never added. */
  remove(stream: S): void;
  /** The replica's beat: the number of jobs that wait there for a credit. */
  setWaiting(stream: S, waiting: number): void;
  /** A job of the stream was declined because the pool was full; the replica sends no more until it hears a beat. */
  holdBack(stream: S): void;
  /** A job began or ended: within 50 ms the credits move to where they are needed. */
  jobsChanged(): void;
  /** Credits for the hello of the next stream; `sharesPool`: its replica can take a smaller share than the whole pool. */
  helloCredits(sharesPool: boolean): number;
  /** Returns the contents of a stream's next beat. */
  beatOf(stream: S): Beat;
  /** Streams that were added, in order. */
  streams(): readonly S[];
  /** Credits of all streams together. */
  total(): number;
  stop(): void;
}

/** Inputs of the credits. */
interface CreditGrantOptions<S> {
  /** Maximum of concurrent jobs over all streams. */
  readonly maxJobs: number;
  /** Jobs that run here: of one stream, or of all. */
  readonly running: (stream?: S) => number;
  /** Worst recent delay of this process's event loop, milliseconds. */
  readonly loopLagMs: () => number;
}

/** The least time between a change of jobs and the beat that reports it. */
const EARLY_BEAT_MS = 50;
/** The longest interval between two divisions of the credits. */
const SHARE_MS = 1_000;

interface Account {
  granted: number;
  waiting: number;
  /** The replica sends no jobs until the next beat. */
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

  /** Sends what has changed, reductions first: at no moment do the replicas hold more credits than the pool has. */
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
