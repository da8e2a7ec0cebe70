import { NO_RULE, PROGRESS } from "#probe-agent/threads/analyses/messages.ts";
import type { AnalysisThread } from "#probe-agent/threads/analyses/threads.ts";
import type { TimeCheck, TimeEnd } from "#probe-agent/threads/budget.ts";

/** Why a search was ended: one rule blocked the thread, or the time of the whole page ended. */
export type HeldUp = { readonly kind: "stuck"; readonly rule: string } | TimeEnd;

/** Number of successive checks that may find the same test of the same rule running: about one second. */
const MAX_CHECKS = 10;
/** Processor time that the test has used by then, in milliseconds: on a busy machine the thread waits most of a second. */
const STUCK_MS = 700;

/**
 * Creates the check of a thread that searches a page. It returns the rule that blocks the thread, how its time ended, or
 * null if neither applies. It counts checks instead of reading the clock, so that no rule is blamed when the process was
 * stopped for a while, and reads the thread's processor time, so that none is blamed when other programs keep the
 * processors busy. `names` are those of the rules, by their numbers.
 */
export function createRuleCheck(
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
