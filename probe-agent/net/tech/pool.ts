import type { Clock } from "#shared/clock.ts";
import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/tech/subject.ts";
import type { TechFound, TechUnknown } from "#probe-agent/net/port/tech.ts";
import { startTechThread } from "#probe-agent/net/tech/thread.ts";
import { createPool as createThreads } from "#probe-agent/net/workers/pool.ts";

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
/** A rule that took too long is left alone for so long: a hostile page may have been the reason. */
const SUSPENDED_MS = 10 * 60_000;
/** Less than this is not worth a start. */
const LEAST_MS = 100;

/** Makes a pool of threads that hold rules against pages. */
export function createPool({ rules, clock, heapMb = HEAP_MB }: PoolOptions): RunPage {
  const threads = createThreads({ start: () => startTechThread(rules, heapMb), clock });
  const suspended = new Map<string, number>();

  function suspendedNow(): string[] {
    for (const [name, until] of suspended) if (until <= clock.monotonic()) suspended.delete(name);
    return [...suspended.keys()];
  }

  return async (page, until, signal) => {
    const found = await threads.use<TechFound | TechUnknown>({ until, signal }, async (borrow) => {
      // Once for each rule that holds it up, as long as there is time.
      for (;;) {
        const skip = suspendedNow();
        const end = await borrow(async (thread) => {
          const budgetMs = until - clock.monotonic();
          return budgetMs < LEAST_MS ? TOO_LATE : await thread.run({ page, budgetMs, skip });
        });
        if (end === null) return { ok: false, reason: "broken" };
        if (end.kind === "answered") return { ok: true, ...end.answer, suspended: skip };
        if (end.kind !== "given_up") return { ok: false, reason: end.kind };
        if (end.why.kind === "too_slow") return { ok: false, reason: "too_slow" };
        suspended.set(end.why.rule, clock.monotonic() + SUSPENDED_MS);
      }
    });
    return typeof found === "string" ? { ok: false, reason: found } : found;
  };
}

const TOO_LATE = { kind: "given_up", why: { kind: "too_slow" } } as const;
