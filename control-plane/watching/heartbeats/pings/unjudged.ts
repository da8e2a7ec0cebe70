/** A monitor of an account. */
interface OwnedMonitor {
  readonly monitorId: number;
  readonly accountId: number;
}

/** Monitors whose states do not follow the pings yet that this replica has recorded. */
interface Unjudged {
  add(monitor: OwnedMonitor): void;
  /** Takes up to `most` of them. Call `finish` before the next time. */
  take(most: number): readonly number[];
  /** Ends the taking: the states of all but those in `left` follow. */
  finish(left: readonly number[]): void;
  hasWaiting(): boolean;
  /** Whether there are none, taken ones included. */
  isEmpty(): boolean;
  /** Resolves when the account has none, taken ones included; null if it has none now. */
  whenSettled(accountId: number): Promise<void> | null;
}

/** Creates an empty collection. */
export function createUnjudged(): Unjudged {
  const waiting = new Map<number, OwnedMonitor>();
  let taken: readonly OwnedMonitor[] = [];
  const waiters = new Map<number, (() => void)[]>();

  function has(accountId: number): boolean {
    const isOwn = (monitor: OwnedMonitor): boolean => monitor.accountId === accountId;
    return taken.some(isOwn) || waiting.values().some(isOwn);
  }

  return {
    add(monitor) {
      waiting.set(monitor.monitorId, monitor);
    },
    take(most) {
      taken = waiting.values().take(most).toArray();
      for (const { monitorId } of taken) waiting.delete(monitorId);
      return taken.map(({ monitorId }) => monitorId);
    },
    finish(left) {
      const again = new Set(left);
      for (const monitor of taken) if (again.has(monitor.monitorId)) waiting.set(monitor.monitorId, monitor);
      taken = [];
      for (const [accountId, resolves] of waiters) {
        if (has(accountId)) continue;
        waiters.delete(accountId);
        for (const resolve of resolves) resolve();
      }
    },
    hasWaiting: () => waiting.size > 0,
    isEmpty: () => waiting.size === 0 && taken.length === 0,
    whenSettled(accountId) {
      if (!has(accountId)) return null;
      return new Promise((resolve) => {
        const resolves = waiters.get(accountId);
        if (resolves === undefined) waiters.set(accountId, [resolve]);
        else resolves.push(resolve);
      });
    },
  };
}
