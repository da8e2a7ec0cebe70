import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";
import {
  NO_RULE,
  PROGRESS,
  type WorkerAnswer,
  type WorkerJob,
  type WorkerReady,
  type WorkerStart,
} from "#probe-agent/net/tech/messages.ts";
import { LOOK_MS, startThread, type ThreadEnd } from "#probe-agent/net/workers/thread.ts";
import type { Pooled } from "#probe-agent/net/workers/pool.ts";

/** One rule held the thread up, or the page as a whole did. */
export type HeldUp = { readonly kind: "stuck"; readonly rule: string } | { readonly kind: "too_slow" };

/** A thread that has compiled the rules. */
export interface TechThread extends Pooled {
  /** One page at a time. */
  run(job: WorkerJob): Promise<ThreadEnd<WorkerAnswer, HeldUp>>;
}

/** Looks at which one test of one rule may be found at work: about a second of its own. */
const MAX_LOOKS = 10;
/** Kept back for a thread that notices its own time to be over. */
const GRACE_MS = 500;

const ENTRY = new URL("main.ts", import.meta.url);

/** Starts a thread; null where it does not come up. */
export async function startTechThread(rules: RuleData, heapMb: number): Promise<TechThread | null> {
  const progress = new SharedArrayBuffer(PROGRESS.length * Int32Array.BYTES_PER_ELEMENT);
  const place = new Int32Array(progress);
  const data: WorkerStart = { rules, progress };
  const thread = await startThread<WorkerReady, WorkerAnswer>({ entry: ENTRY, data, heapMb });
  if (thread === null) return null;
  const { names } = thread.hello;
  return {
    alive: () => thread.alive(),
    end: () => thread.end(),
    run: (job) => thread.run({ order: job, look: createLooker(place, names, job.budgetMs + GRACE_MS) }),
  };
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
