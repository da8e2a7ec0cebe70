/** Jobs that wait at one agent, at most. */
export const MAX_WAITING = 10_000;
/** Of one account, at most. */
export const MAX_WAITING_PER_ACCOUNT = 1_000;

/** What can wait: somebody's, or (null) nobody's in particular. */
export interface Waiter {
  readonly accountId: number | null;
}

/** Who waits for one agent's credits: the accounts take turns, each first come, first served. Bounded. */
export interface WaitingQueue<T extends Waiter> {
  readonly size: number;
  has(waiter: T): boolean;
  /** At the end of its account's line. False: that line or the whole queue is full. */
  add(waiter: T): boolean;
  /** At the front of its account's line, whose turn is next: it has had its turn and got nothing for it. Never refused. */
  putBack(waiter: T): void;
  /** Takes out whose turn it is. */
  next(): T | undefined;
  remove(waiter: T): boolean;
  /** Everyone, account by account. */
  values(): T[];
}

/** An empty queue. Every step is of constant cost. */
export function createWaitingQueue<T extends Waiter>(): WaitingQueue<T> {
  // Both in the order they are served: an account goes to the end of its map with each turn it takes.
  let lines = new Map<number | null, Set<T>>();
  let size = 0;
  const lineOf = (waiter: T) => lines.get(waiter.accountId);
  return {
    get size() {
      return size;
    },
    has: (waiter) => lineOf(waiter)?.has(waiter) ?? false,
    add(waiter) {
      const line = lineOf(waiter) ?? new Set();
      if (size >= MAX_WAITING || line.size >= MAX_WAITING_PER_ACCOUNT || line.has(waiter)) return false;
      line.add(waiter);
      lines.set(waiter.accountId, line);
      size += 1;
      return true;
    },
    putBack(waiter) {
      const line = lineOf(waiter);
      if (line?.has(waiter) === true) return;
      // Rare, an agent's second thoughts: the rest is moved behind it.
      const others = Array.from(lines).filter(([accountId]) => accountId !== waiter.accountId);
      lines = new Map([[waiter.accountId, new Set([waiter, ...(line ?? [])])], ...others]);
      size += 1;
    },
    next() {
      const [turn] = lines;
      if (turn === undefined) return undefined;
      const [accountId, line] = turn;
      const [waiter] = line;
      lines.delete(accountId);
      if (waiter === undefined) return undefined;
      line.delete(waiter);
      size -= 1;
      if (line.size > 0) lines.set(accountId, line);
      return waiter;
    },
    remove(waiter) {
      const line = lineOf(waiter);
      if (line?.delete(waiter) !== true) return false;
      size -= 1;
      if (line.size === 0) lines.delete(waiter.accountId);
      return true;
    },
    values: () => Array.from(lines.values()).flatMap((line) => [...line]),
  };
}
