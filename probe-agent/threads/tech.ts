import type { Clock } from "#shared/clock.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { NO_RULE, PROGRESS, type TechReport, type ThreadAnswer } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { TechFound, TechPort, TechQuestion, TechUnknown } from "#probe-agent/toolkit/tech.ts";
import { cancelled } from "#probe-agent/threads/cancelled.ts";
import type { Pool } from "#probe-agent/threads/pool.ts";
import { LOOK_MS, type ThreadEnd } from "#probe-agent/threads/thread.ts";

/** What the search for technologies is made with. */
interface TechOptions {
  readonly clock: Pick<Clock, "monotonic">;
  readonly threads: Pool<AnalysisThread>;
  /** The rules that the threads were started with. */
  readonly rules: RuleData;
}

/** One rule held the thread up, or the page as a whole did. */
type HeldUp = { readonly kind: "stuck"; readonly rule: string } | { readonly kind: "too_slow" };
type SearchEnd = ThreadEnd<ThreadAnswer<TechReport>, HeldUp>;

/** A rule that took too long is left out for this time, milliseconds: a hostile page may have been the reason. */
const SUSPENDED_MS = 10 * 60_000;
/** Less than this is not worth a start. */
const LEAST_MS = 100;
/** Looks at which one test of one rule may be found at work: about a second of its own. */
const MAX_LOOKS = 10;
/** Kept back for a thread that notices its own time to be over. */
const GRACE_MS = 500;
const TOO_LATE: SearchEnd = { kind: "given_up", why: { kind: "too_slow" } };

/** Makes the search of an agent; each job's port ends with its job. */
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
      // Once for each rule that holds it up, as long as there is time.
      for (;;) {
        const skip = suspendedNow();
        const end = await borrow<SearchEnd>(async (thread) => {
          const budgetMs = until - clock.monotonic();
          if (budgetMs < LEAST_MS) return TOO_LATE;
          const look = createLooker(thread.place, names, budgetMs + GRACE_MS);
          const order = { kind: "technologies", page, raw, withSystem, budgetMs, skip } as const;
          return (await thread.run({ order, look })) as SearchEnd;
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

/** What was thrown there is thrown here: a bug, which the job's log tells of. */
function reportOf(answer: ThreadAnswer<TechReport>): TechReport {
  if (!answer.ok) throw answer.error;
  return answer.report;
}

/**
 * Looks at a thread: which rule it is stuck at, too_slow, or null where all is well. It counts looks, not the clock: a
 * process that was stopped for a while, or has no turn, blames no rule for it.
 */
function createLooker(place: Int32Array, names: readonly string[], limitMs: number): () => HeldUp | null {
  let last = Atomics.load(place, PROGRESS.step);
  let same = 0;
  let looks = 0;
  return () => {
    looks += 1;
    const step = Atomics.load(place, PROGRESS.step);
    const rule = Atomics.load(place, PROGRESS.rule);
    same = step === last ? same + 1 : 0;
    last = step;
    if (rule !== NO_RULE && same >= MAX_LOOKS) return { kind: "stuck", rule: names[rule] ?? "" };
    return looks * LOOK_MS >= limitMs ? { kind: "too_slow" } : null;
  };
}
