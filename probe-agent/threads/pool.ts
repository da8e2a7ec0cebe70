import type { Clock } from "#shared/time/clock.ts";
import type { NoThread } from "#probe-agent/threads/thread.ts";
import { createTurns } from "#probe-agent/threads/turns.ts";

/** An object that a pool keeps. */
export interface Pooled {
  alive(): boolean;
  end(): void;
}

/** Dependencies of a pool. */
interface PoolOptions<T> {
  readonly start: () => Promise<T | NoThread>;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Why no work was started: busy (other jobs were first until the time ended), or the job ended. */
type NoTurn = "busy" | "cancelled";

/** A few threads that take turns. Each is kept for a while after its work, and a thread that has ended is replaced. */
export interface Pool<T> {
  /**
   * Waits for a turn until `until` (monotonic clock) and then runs `work`. It can borrow one thread after the other;
   * `borrow` returns why, if there is none.
   */
  use<R>(
    wait: { readonly until: number; readonly signal: AbortSignal },
    work: (borrow: <U>(task: (thread: T) => Promise<U>) => Promise<U | NoThread>) => Promise<R>,
  ): Promise<R | NoTurn>;
}

/** Maximum number of threads at work. With two, one slow page does not delay the next. */
const THREADS = 2;
/** Maximum number of waiting callers. Their jobs hold their input in memory in any case. */
const MAX_WAITING = 128;
/** A thread without work ends after this time, in milliseconds. */
const IDLE_MS = 30_000;

/** Creates a pool. No thread is started before there is work. */
export function createPool<T extends Pooled>({ start, clock }: PoolOptions<T>): Pool<T> {
  const turns = createTurns(THREADS);
  const idle: { readonly thread: T; readonly timer: NodeJS.Timeout }[] = [];
  let waiting = 0;

  async function take(): Promise<T | NoThread> {
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

  async function borrow<U>(task: (thread: T) => Promise<U>): Promise<U | NoThread> {
    const thread = await take();
    if (thread === null || thread === "late") return thread;
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
