import type { AgentMessage, Beat } from "#shared/protocol/probe.ts";

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

/** Usage and demand of one stream in the agent's pool of jobs. */
interface StreamDemand {
  /** Number of running jobs of this stream. */
  readonly running: number;
  /**
   * Number of jobs that its hub could send immediately, from its last heartbeat; 0 for a 1.0 hub, which does not report
   * it.
   */
  readonly waiting: number;
}

/** A stream and the credits last sent to its hub. */
interface StreamGrant extends StreamDemand {
  readonly granted: number;
}

/** Part of the pool that each stream keeps, so that an idle replica's next job starts without a request for credits. */
const FLOOR_SHARE = 1 / 20;

/**
 * Divides `maxJobs` among the streams in their order; the sum is exactly `maxJobs`. Each stream first gets a small
 * floor. Then running and waiting jobs are served, small demands in full and large ones equally (max-min fairness). The
 * rest is divided evenly as headroom, which also lets a stream of a 1.0 hub grow. If there are more streams than jobs,
 * some get 0.
 */
export function shareCredits(maxJobs: number, streams: readonly StreamDemand[]): number[] {
  const count = streams.length;
  if (count === 0) return [];
  const floor = creditFloor(maxJobs, count);
  const wanted = streams.map(({ running, waiting }) => Math.max(0, running + waiting - floor));
  const demanded = fill(maxJobs - floor * count, wanted);
  const left = maxJobs - floor * count - sum(demanded);
  const even = Math.floor(left / count);
  return demanded.map((share, index) => floor + share + even + (index < left % count ? 1 : 0));
}

/** Returns the minimum number of credits that each of `count` streams keeps. */
function creditFloor(maxJobs: number, count: number): number {
  return Math.min(Math.floor(maxJobs / count), Math.max(1, Math.ceil(maxJobs * FLOOR_SHARE)));
}

/**
 * Returns the credits to send now, between two heartbeats; null if sending has no benefit: no stream that is short of
 * credits would get more, and at most `maxJobs` are granted in total.
 */
export function rebalance(maxJobs: number, streams: readonly StreamGrant[]): number[] | null {
  const shares = shareCredits(maxJobs, streams);
  const helped = streams.some((stream, index) => {
    const short = stream.waiting > 0 || stream.running >= stream.granted;
    return short && (shares[index] ?? 0) > stream.granted;
  });
  return helped || sum(streams.map((stream) => stream.granted)) > maxJobs ? shares : null;
}

/** Divides `amount` so that no stream gets more than it wants and equal demands get equal shares. */
function fill(amount: number, wanted: readonly number[]): number[] {
  const given = wanted.map(() => 0);
  let left = amount;
  let open = wanted.length;
  for (const [index, want] of [...wanted.entries()].toSorted(([, a], [, b]) => a - b)) {
    const share = Math.min(want, Math.floor(left / open));
    given[index] = share;
    left -= share;
    open -= 1;
  }
  return given;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
