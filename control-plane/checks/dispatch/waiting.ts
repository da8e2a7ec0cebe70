import { createReleasingMap, type ReleasingMap } from "#control-plane/core/releasing-map.ts";

/** Maximum number of waiting jobs of one agent. */
export const MAX_WAITING = 10_000;
/** Maximum number of waiting jobs of one account at one agent. */
export const MAX_WAITING_PER_ACCOUNT = 1_000;

/** An element of the queue, with its account or null. `id` is unique. */
interface Waiter {
  readonly id: string;
  readonly accountId: number | null;
}

/** Bounded queue of jobs that wait for one agent's credits: accounts take turns, first in, first out within each. */
export interface WaitingQueue<T extends Waiter> {
  readonly size: number;
  has(waiter: T): boolean;
  /** Appends to the account's line. Returns false if that line or the whole queue is full. */
  add(waiter: T): boolean;
  /** Returns an element to the front of its account's line, and the account to the front of the turns. Never refused. */
  putBack(waiter: T): void;
  /** Removes and returns the next element. */
  next(): T | undefined;
  remove(waiter: T): boolean;
  /** Returns all elements, account by account. */
  values(): T[];
}

/** Creates an empty queue. Every operation has constant cost. */
export function createWaitingQueue<T extends Waiter>(): WaitingQueue<T> {
  // Both in serving order: after each turn an account moves to the end of its map.
  let lines = new Map<number | null, ReleasingMap<string, T>>();
  let size = 0;
  const lineOf = (waiter: T) => lines.get(waiter.accountId);
  return {
    get size() {
      return size;
    },
    has: (waiter) => lineOf(waiter)?.has(waiter.id) ?? false,
    add(waiter) {
      const line = lineOf(waiter) ?? createReleasingMap<string, T>();
      if (size >= MAX_WAITING || line.size >= MAX_WAITING_PER_ACCOUNT || line.has(waiter.id)) return false;
      line.set(waiter.id, waiter);
      lines.set(waiter.accountId, line);
      size += 1;
      return true;
    },
    putBack(waiter) {
      const line = lineOf(waiter);
      if (line?.has(waiter.id) === true) return;
      // Rare, because agents seldom decline: the other elements are moved behind it.
      const others = Array.from(lines).filter(([accountId]) => accountId !== waiter.accountId);
      const first = createReleasingMap<string, T>();
      for (const each of [waiter, ...(line?.values() ?? [])]) first.set(each.id, each);
      lines = new Map([[waiter.accountId, first], ...others]);
      size += 1;
    },
    next() {
      const [turn] = lines;
      if (turn === undefined) return undefined;
      const [accountId, line] = turn;
      const [waiter] = line.values();
      lines.delete(accountId);
      if (waiter === undefined) return undefined;
      line.delete(waiter.id);
      size -= 1;
      if (line.size > 0) lines.set(accountId, line);
      return waiter;
    },
    remove(waiter) {
      const line = lineOf(waiter);
      if (line?.delete(waiter.id) !== true) return false;
      size -= 1;
      if (line.size === 0) lines.delete(waiter.accountId);
      return true;
    },
    values: () => Array.from(lines.values()).flatMap((line) => [...line.values()]),
  };
}
