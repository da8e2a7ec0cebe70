import type { Clock } from "#shared/clock.ts";
import { createTurns } from "#probe-agent/threads/turns.ts";

/** What a pool keeps. */
export interface Pooled {
  alive(): boolean;
  end(): void;
}

/** What a pool is made of. */
interface PoolOptions<T> {
  /** Starts a thread; null where it does not come up. */
  readonly start: () => Promise<T | null>;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Why nothing was begun: busy (others were first until the time was over), or the job ended. */
type NoTurn = "busy" | "cancelled";

/** A few threads that take turns; each is kept for a while after its work, and another started where one is gone. */
export interface Pool<T> {
  /**
   * Waits for a turn until `until` (monotonic clock), then does `work`, which may borrow one thread after the other: null
   * where none comes up.
   */
  use<R>(
    wait: { readonly until: number; readonly signal: AbortSignal },
    work: (borrow: <U>(task: (thread: T) => Promise<U>) => Promise<U | null>) => Promise<R>,
  ): Promise<R | NoTurn>;
}

/** Threads at once: one slow page does not hold up the next. */
const THREADS = 2;
/** Those who wait at most; their jobs hold what they bring in memory anyway. */
const MAX_WAITING = 128;
/** A thread without work ends after this. */
const IDLE_MS = 30_000;

/** Makes a pool; no thread is started before there is work. */
export function createPool<T extends Pooled>({ start, clock }: PoolOptions<T>): Pool<T> {
  const turns = createTurns(THREADS);
  const idle: { readonly thread: T; readonly timer: NodeJS.Timeout }[] = [];
  let waiting = 0;

  async function take(): Promise<T | null> {
    for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.thread.alive()) return entry.thread;
    }
    return await start();
  }

  function putBack(thread: T): void {
    if (!thread.alive()) return;
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1);
      thread.end();
    }, IDLE_MS).unref();
    const entry = { thread, timer };
    idle.push(entry);
  }

  async function borrow<U>(task: (thread: T) => Promise<U>): Promise<U | null> {
    const thread = await take();
    if (thread === null) return null;
    try {
      return await task(thread);
    } finally {
      putBack(thread);
    }
  }

  return {
    async use({ until, signal }, work) {
      if (waiting >= MAX_WAITING) return "busy";
      const ms = Math.max(0, Math.floor(until - clock.monotonic()));
      waiting += 1;
      const leave = await turns.take(AbortSignal.any([signal, AbortSignal.timeout(ms)]));
      waiting -= 1;
      if (leave === null) return signal.aborted ? "cancelled" : "busy";
      try {
        return await work(borrow);
      } finally {
        leave();
      }
    },
  };
}
