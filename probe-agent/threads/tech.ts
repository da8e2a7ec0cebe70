import type { Clock } from "#shared/clock.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { NO_RULE, PROGRESS, type TechReport, type ThreadAnswer } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TechFound, TechPort, TechQuestion, TechUnknown } from "#probe-agent/toolkit/tech.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { readProcessorMs } from "#probe-agent/threads/processor-time.ts";
import { CHECK_INTERVAL_MS, type ThreadEnd } from "#probe-agent/threads/thread.ts";

/** Dependencies of the search for technologies. */
interface TechOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
  /** The rules that the threads were started with. */
  readonly rules: RuleData;
}

/** Why a search was ended: one rule blocked the thread, or the whole page took too long. */
type HeldUp = { readonly kind: "stuck"; readonly rule: string } | { readonly kind: "too_slow" };
type SearchEnd = ThreadEnd<ThreadAnswer<TechReport>, HeldUp>;

/**
 * A rule that took too long is left out for this time, in milliseconds. It is not removed for good, because a hostile
 * page may have been the reason.
 */
const SUSPENDED_MS = 10 * 60_000;
/** With less time than this, in milliseconds, a search is not started. */
const LEAST_MS = 100;
/** Number of successive checks that may find the same test of the same rule running: about one second. */
const MAX_CHECKS = 10;
/** Processor time that the test has used by then, in milliseconds: on a busy machine the thread waits most of a second. */
const STUCK_MS = 700;
/** Extra time for a thread that notices by itself that its time has ended, in milliseconds. */
const GRACE_MS = 500;
const TOO_LATE: SearchEnd = { kind: "given_up", why: { kind: "too_slow" } };

/** Creates the search of an agent. Each job's port ends with its job. */
export function createTech({ clock, threads, rules }: TechOptions): (limits: JobLimits) => TechPort {
  const names = rules.technologies.map(([name]) => name);
  const suspended = new Map<string, number>();

  function suspendedNow(): string[] {
    for (const [name, until] of suspended) if (until <= clock.monotonic()) suspended.delete(name);
    return [...suspended.keys()];
  }

  async function search(question: TechQuestion, until: number, signal: AbortSignal): Promise<TechFound | TechUnknown> {
    const { page, raw = null, withSystem = false } = question;
    const found = await threads.use<TechFound | TechUnknown>({ until, signal }, async (borrow) => {
      // Runs again after each rule that blocked it, while there is time.
      for (;;) {
        const skip = suspendedNow();
        const end = await borrow<SearchEnd>(async (thread) => {
          const budgetMs = until - clock.monotonic();
          if (budgetMs < LEAST_MS) return TOO_LATE;
          const check = createCheck(thread.place, names, budgetMs + GRACE_MS);
          const order = { kind: "technologies", page, raw, withSystem, budgetMs, skip } as const;
          return (await thread.run({ order, check })) as SearchEnd;
        });
        if (end === null) return { ok: false, reason: "broken" };
        if (end.kind === "answered") return { ok: true, ...reportOf(end.answer), suspended: skip };
        if (end.kind !== "given_up") return { ok: false, reason: end.kind };
        if (end.why.kind === "too_slow") return { ok: false, reason: "too_slow" };
        suspended.set(end.why.rule, clock.monotonic() + SUSPENDED_MS);
      }
    });
    return typeof found === "string" ? { ok: false, reason: found } : found;
  }

  return ({ signal, deadline }) => ({
    async detect(question, ms) {
      const until = Math.min(deadline, clock.monotonic() + ms);
      const found = await Promise.race([search(question, until, signal), cancelled(signal)]);
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
 * Creates the check of a thread at work. It returns the rule that blocks the thread, too_slow, or null if neither
 * applies. It counts checks instead of reading the clock, so that no rule is blamed when the process was stopped for a
 * while, and reads the thread's processor time, so that none is blamed when other programs keep the processors busy.
 */
function createCheck(place: Int32Array, names: readonly string[], limitMs: number): () => HeldUp | null {
  const thread = Atomics.load(place, PROGRESS.thread);
  let last = Atomics.load(place, PROGRESS.step);
  let same = 0;
  let checks = 0;
  let spentBefore = readProcessorMs(thread);
  return () => {
    checks += 1;
    const step = Atomics.load(place, PROGRESS.step);
    const rule = Atomics.load(place, PROGRESS.rule);
    const spent = readProcessorMs(thread);
    same = step === last ? same + 1 : 0;
    if (same === 0) spentBefore = spent;
    last = step;
    const hasWorked = spent === null || spentBefore === null || spent - spentBefore >= STUCK_MS;
    if (rule !== NO_RULE && same >= MAX_CHECKS && hasWorked) return { kind: "stuck", rule: names[rule] ?? "" };
    return checks * CHECK_INTERVAL_MS >= limitMs ? { kind: "too_slow" } : null;
  };
}
