import type { Clock } from "#shared/time/clock.ts";

/** Shares a few places between accounts, so that none of them keeps the others waiting. */
export interface FairTurns {
  /** Resolves with a function that ends the turn, or with null if the signal aborts first. */
  take(account: string, signal: AbortSignal): Promise<(() => void) | null>;
  /** Counts the requests of an account that wait. */
  waiting(account: string): number;
  /** Reports whether an account has used up its time of the last minute. */
  isSpent(account: string): boolean;
}

/** Options of turns. */
interface FairTurnsOptions {
  /** Number of turns at the same time. */
  readonly slots: number;
  /** Time of all turns of an account in any minute, in milliseconds. A turn that has begun may exceed it. */
  readonly budgetMs: number;
  readonly clock: Pick<Clock, "monotonic">;
}

/** A turn. `to` is null while it lasts. Times are monotonic milliseconds. */
interface Turn {
  readonly from: number;
  to: number | null;
}

interface Account {
  readonly turns: Set<Turn>;
  readonly waiting: Set<() => void>;
  /** Place in the order in which accounts had their last turn; 0: it had none. */
  servedAs: number;
}

const MINUTE_MS = 60_000;
/** Wait before accounts are looked at again that have used up their time, in milliseconds. */
const LOOK_AGAIN_MS = 250;

/** Returns how many turns one account can have at the same time: all but one, which is left to others. */
export function turnsOfOne(slots: number): number {
  return Math.max(1, slots - 1);
}

/**
 * Creates turns. The next one goes to the account that has the fewest now, then to that whose last turn began first. An
 * account that has used up its time waits until it has some again.
 */
export function createFairTurns({ slots, budgetMs, clock }: FairTurnsOptions): FairTurns {
  const accounts = new Map<string, Account>();
  let inside = 0;
  let served = 0;
  let timer: NodeJS.Timeout | undefined;

  const running = ({ turns }: Account): number => [...turns].filter(({ to }) => to === null).length;
  const isSpent = ({ turns }: Account): boolean => {
    const now = clock.monotonic();
    const spent = [...turns].reduce((sum, turn) => sum + timeSince(turn, now - MINUTE_MS, now), 0);
    return spent >= budgetMs;
  };

  /** Drops turns that ended more than a minute ago, and accounts of which nothing is left. */
  function forget(): void {
    const since = clock.monotonic() - MINUTE_MS;
    for (const [name, { turns, waiting }] of accounts) {
      for (const turn of turns) if (turn.to !== null && turn.to <= since) turns.delete(turn);
      if (turns.size === 0 && waiting.size === 0) accounts.delete(name);
    }
  }

  function accountOf(name: string): Account {
    const account = accounts.get(name) ?? { turns: new Set(), waiting: new Set(), servedAs: 0 };
    accounts.set(name, account);
    return account;
  }

  /** Returns the request that is next; null if there is no place, or nobody may have it now. */
  function next(): (() => void) | null {
    if (inside >= slots) return null;
    const [first] = [...accounts.values()]
      .filter((one) => one.waiting.size > 0 && running(one) < turnsOfOne(slots) && !isSpent(one))
      .toSorted((one, other) => running(one) - running(other) || one.servedAs - other.servedAs);
    const [enter = null] = first?.waiting ?? [];
    return enter;
  }

  function serve(): void {
    clearTimeout(timer);
    for (let enter = next(); enter !== null; enter = next()) enter();
    const isAnyHeld = inside < slots && [...accounts.values()].some((one) => one.waiting.size > 0);
    if (isAnyHeld) timer = setTimeout(serve, LOOK_AGAIN_MS);
    forget();
  }

  function begin(account: Account): () => void {
    const turn: Turn = { from: clock.monotonic(), to: null };
    account.turns.add(turn);
    inside += 1;
    served += 1;
    account.servedAs = served;
    return () => {
      if (turn.to !== null) return;
      turn.to = clock.monotonic();
      inside -= 1;
      serve();
    };
  }

  return {
    take(name, signal) {
      if (signal.aborted) return Promise.resolve(null);
      const account = accountOf(name);
      return new Promise((resolve) => {
        const enter = (): void => {
          account.waiting.delete(enter);
          signal.removeEventListener("abort", giveUp);
          resolve(begin(account));
        };
        const giveUp = (): void => {
          account.waiting.delete(enter);
          resolve(null);
          serve();
        };
        account.waiting.add(enter);
        signal.addEventListener("abort", giveUp, { once: true });
        serve();
      });
    },
    waiting: (name) => accounts.get(name)?.waiting.size ?? 0,
    isSpent(name) {
      const account = accounts.get(name);
      return account !== undefined && isSpent(account);
    },
  };
}

/** Returns the part of a turn that lies between two times, in milliseconds. */
function timeSince({ from, to }: Turn, since: number, now: number): number {
  return Math.max(0, (to ?? now) - Math.max(from, since));
}
