import type { Clock } from "#shared/time/clock.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { type TechReport, type ThreadAnswer, NO_RULE, PROGRESS } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TechFound, TechPort, TechQuestion, TechUnknown } from "#probe-agent/toolkit/tech.ts";
import {
  createTimeCheck,
  endOfWork,
  failureOf,
  NEVER_RUN,
  wallFor,
  type TimeCheck,
  type TimeEnd,
} from "#probe-agent/threads/budget.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import { startPatience } from "#probe-agent/threads/patience.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import type { ThreadEnd } from "#probe-agent/threads/thread.ts";

/** Dependencies of the search for technologies. */
interface TechOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
  /** The rules that the threads were started with. */
  readonly rules: RuleData;
}

type SearchEnd = ThreadEnd<ThreadAnswer<TechReport>, HeldUp>;

/**
 * A rule that took too long is left out for this time, in milliseconds. It is not removed for good, because a hostile
 * page may have been the reason.
 */
const SUSPENDED_MS = 10 * 60_000;
/** With less time than this, in milliseconds, a search is not started. */
const LEAST_MS = 100;
/** Extra time for a thread that notices by itself that its time has ended, in milliseconds. */
const GRACE_MS = 500;

/** Why a search was ended: one rule blocked the thread, or the time of the whole page ended. */
type HeldUp = { readonly kind: "stuck"; readonly rule: string } | TimeEnd;

/** Number of successive checks that may find the same test of the same rule running: about one second. */
const MAX_CHECKS = 10;
/** Processor time that the test has used by then, in milliseconds: on a busy machine the thread waits most of a second. */
const STUCK_MS = 700;

/** Creates the search of an agent. Each job's port ends with its job. */
export function createTech({ clock, threads, rules }: TechOptions): (limits: JobLimits) => TechPort {
  const names = rules.technologies.map(([name]) => name);
  const suspended = new Map<string, number>();

  function suspendedNow(): string[] {
    for (const [name, until] of suspended) if (until <= clock.monotonic()) suspended.delete(name);
    return [...suspended.keys()];
  }

  async function search(
    question: TechQuestion,
    ms: number,
    { signal, deadline }: JobLimits,
  ): Promise<TechFound | TechUnknown> {
    const { page, raw = null, withSystem = false } = question;
    const startedAt = clock.monotonic();
    const end = endOfWork(deadline, startedAt);
    const until = Math.min(end, startedAt + ms);
    const patience = startPatience(failureOf(NEVER_RUN));
    const found = threads.use<TechFound | TechUnknown>({ until, signal }, async (borrow) => {
      const wallEnd = clock.monotonic() + wallFor(ms, end - clock.monotonic());
      patience.endAfter(wallEnd - clock.monotonic());
      let budgetMs = ms;
      // Runs again after each rule that blocked it, while there is time.
      for (;;) {
        const skip = suspendedNow();
        const ended = await borrow<SearchEnd>(async (thread) => {
          const wallMs = wallEnd - clock.monotonic();
          if (budgetMs < LEAST_MS) return { kind: "given_up", why: { kind: "too_slow" } };
          if (wallMs < LEAST_MS) {
            return { kind: "given_up", why: { kind: "overloaded", isHalfUsed: (ms - budgetMs) * 2 >= ms } };
          }
          const time = createTimeCheck(thread, clock, {
            processorMs: budgetMs + GRACE_MS,
            wallMs: wallMs + GRACE_MS,
          });
          const order = { kind: "technologies", page, raw, withSystem, budgetMs, wallMs, skip } as const;
          const result = await thread.run({ order, check: createRuleCheck(thread, names, time) });
          budgetMs -= time.usedMs();
          return result as SearchEnd;
        });
        if (ended === "late") return failureOf(NEVER_RUN);
        if (ended === null) return { ok: false, reason: "broken" };
        if (ended.kind === "answered") return { ok: true, ...reportOf(ended.answer), suspended: skip };
        if (ended.kind !== "given_up") return { ok: false, reason: ended.kind };
        if (ended.why.kind !== "stuck") return failureOf(ended.why);
        suspended.set(ended.why.rule, clock.monotonic() + SUSPENDED_MS);
      }
    });
    const answer = await Promise.race([found.finally(() => patience.forget()), patience.ended]);
    return typeof answer === "string" ? { ok: false, reason: answer } : answer;
  }

  return (limits) => ({
    async detect(question, ms) {
      const found = await Promise.race([search(question, ms, limits), cancelled(limits.signal)]);
      return found === "cancelled" ? { ok: false, reason: found } : found;
    },
  });
}

/** Returns the report, or rethrows an error of the thread: a bug, which the job's log reports. */
function reportOf(answer: ThreadAnswer<TechReport>): TechReport {
  if (!answer.ok) throw answer.error;
  return answer.report;
}

/**
 * Creates the check of a thread that searches a page. It returns the rule that blocks the thread, how its time ended, or
 * null if neither applies. It counts checks instead of reading the clock, so that no rule is blamed when the process was
 * stopped for a while, and reads the thread's processor time, so that none is blamed when other programs keep the
 * processors busy. `names` are those of the rules, by their numbers.
 */
function createRuleCheck(
  { place, processorMs }: Pick<AnalysisThread, "place" | "processorMs">,
  names: readonly string[],
  time: TimeCheck,
): () => HeldUp | null {
  let last = Atomics.load(place, PROGRESS.step);
  let same = 0;
  let spentBefore = processorMs();
  return () => {
    const step = Atomics.load(place, PROGRESS.step);
    const rule = Atomics.load(place, PROGRESS.rule);
    const spent = processorMs();
    same = step === last ? same + 1 : 0;
    if (same === 0) spentBefore = spent;
    last = step;
    const ended = time.check();
    const hasWorked = spent === null || spentBefore === null || spent - spentBefore >= STUCK_MS;
    if (rule !== NO_RULE && same >= MAX_CHECKS && hasWorked) return { kind: "stuck", rule: names[rule] ?? "" };
    return ended;
  };
}
