/** Writes of one account whose transactions can be open at the same time, each on a connection of the pool. */
const AT_ONCE = 2;
/** Writes of one account that can wait for their turn. Each has been received, with up to 1 MB of memory. */
const MOST_WAITING = 200;

/** A write that was not begun: too many others of its account wait, or its client has gone away. */
export class NoTurn extends Error {
  override readonly name = "NoTurn";
}

/**
 * The turns of the accounts' writes in this process. Writes of one account wait for each other, because they lock it. Those
 * that waited for the lock in the database would each hold a connection, which then the other accounts have not.
 */
export interface Turns {
  /**
   * Runs `work`, which opens one transaction, when it is the turn of this write of an account, in the order of calls.
   * Rejects with NoTurn, else as `work` does. A write whose signal is aborted waits no longer.
   */
  run<T>(accountId: number, work: () => Promise<T>, gone?: AbortSignal): Promise<T>;
}

/** The writes of one account that run, and functions that begin those that wait, in their order. */
interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Creates the turns of a process. */
export function createTurns(): Turns {
  const lines = new Map<number, Line>();

  function leave(accountId: number, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      return next();
    }
    line.running -= 1;
    if (line.running === 0) lines.delete(accountId);
  }

  return {
    async run(accountId, work, gone) {
      const line = lines.get(accountId) ?? { running: 0, waiting: new Set() };
      lines.set(accountId, line);
      if (line.running < AT_ONCE) line.running += 1;
      else await wait(line, gone);
      try {
        return await work();
      } finally {
        leave(accountId, line);
      }
    },
  };
}

/** Resolves when a write that ends has passed its place on. */
function wait({ waiting }: Line, gone?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (waiting.size >= MOST_WAITING) return reject(new NoTurn(`${MOST_WAITING} writes of the account wait already`));
    const giveUp = (): void => {
      waiting.delete(begin);
      reject(new NoTurn("the client has gone away"));
    };
    const begin = (): void => {
      gone?.removeEventListener("abort", giveUp);
      resolve();
    };
    if (gone?.aborted === true) return giveUp();
    gone?.addEventListener("abort", giveUp, { once: true });
    waiting.add(begin);
  });
}
