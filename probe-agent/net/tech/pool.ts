import type { Clock } from "#shared/clock.ts";
import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/tech/subject.ts";
import type { TechFound, TechUnknown } from "#probe-agent/net/port/tech.ts";
import { startThread, type Thread } from "#probe-agent/net/tech/thread.ts";
import { createTurns } from "#probe-agent/net/turns.ts";

/** What a pool is made of. */
export interface PoolOptions {
  readonly rules: RuleData;
  readonly clock: Pick<Clock, "monotonic">;
  /** Megabytes of each thread's heap; default: what a page of 5 MB and 300,000 elements needs, twice. */
  readonly heapMb?: number;
}

/** Runs one page, or says why not; `until` is on the monotonic clock. */
export type RunPage = (page: TechPage, until: number, signal: AbortSignal) => Promise<TechFound | TechUnknown>;

const HEAP_MB = 512;
/** Threads at once: one slow page does not hold up the next. */
const THREADS = 2;
/** Pages that wait at most: those of a burst, a few milliseconds each; their jobs hold them in memory anyway. */
const MAX_WAITING = 128;
/** A thread without work ends after this. */
const IDLE_MS = 30_000;
/** A rule that took too long is left alone for so long: a hostile page may have been the reason. */
const SUSPENDED_MS = 10 * 60_000;
/** Less than this is not worth a start. */
const LEAST_MS = 100;

/** Makes a pool of threads; none is started before there is work. */
export function createPool({ rules, clock, heapMb = HEAP_MB }: PoolOptions): RunPage {
  const turns = createTurns(THREADS);
  const idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout }[] = [];
  const suspended = new Map<string, number>();
  let waiting = 0;

  function suspendedNow(): string[] {
    for (const [name, until] of suspended) if (until <= clock.monotonic()) suspended.delete(name);
    return [...suspended.keys()];
  }

  async function takeThread(): Promise<Thread | null> {
    for (let entry = idle.pop(); entry !== undefined; entry = idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.thread.alive()) return entry.thread;
    }
    return startThread(rules, heapMb);
  }

  function putBack(thread: Thread): void {
    if (!thread.alive()) return;
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1);
      thread.end();
    }, IDLE_MS).unref();
    const entry = { thread, timer };
    idle.push(entry);
  }

  /** Once for each rule that holds it up, as long as there is time. */
  async function run(page: TechPage, until: number): Promise<TechFound | TechUnknown> {
    for (;;) {
      const thread = await takeThread();
      if (thread === null) return { ok: false, reason: "broken" };
      const skip = suspendedNow();
      const budgetMs = until - clock.monotonic();
      if (budgetMs < LEAST_MS) {
        putBack(thread);
        return { ok: false, reason: "too_slow" };
      }
      const end = await thread.run({ page, budgetMs, skip });
      putBack(thread);
      if (end.kind === "done") {
        const { technologies, unfinished, unusable } = end;
        return { ok: true, technologies, unfinished, unusable, suspended: skip };
      }
      if (end.kind !== "stuck") return { ok: false, reason: end.kind };
      suspended.set(end.rule, clock.monotonic() + SUSPENDED_MS);
    }
  }

  return async (page, until, signal) => {
    if (waiting >= MAX_WAITING) return { ok: false, reason: "busy" };
    const ms = until - clock.monotonic();
    const patience = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.floor(ms)))]);
    waiting += 1;
    const leave = await turns.take(patience);
    waiting -= 1;
    if (leave === null) return { ok: false, reason: signal.aborted ? "cancelled" : "busy" };
    try {
      return await run(page, until);
    } finally {
      leave();
    }
  };
}
