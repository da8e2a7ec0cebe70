import { Worker } from "node:worker_threads";
import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";
import {
  NO_RULE,
  PROGRESS,
  type WorkerAnswer,
  type WorkerJob,
  type WorkerStart,
} from "#probe-agent/net/tech/messages.ts";

/** How a thread's work on one page ended. */
export type ThreadEnd =
  | Extract<WorkerAnswer, { readonly kind: "done" }>
  /** One rule held it up; the thread is gone. */
  | { readonly kind: "stuck"; readonly rule: string }
  /** The thread is gone. */
  | { readonly kind: "too_slow" | "out_of_memory" | "broken" };

/** A thread that has compiled the rules. */
export interface Thread {
  /** Whether it can still be given work. */
  alive(): boolean;
  /** One page at a time. */
  run(job: WorkerJob): Promise<ThreadEnd>;
  end(): void;
}

/** Megabytes for what lives short; part of no other limit. */
const YOUNG_MB = 32;
/** Between two looks at where the thread is. */
const LOOK_MS = 100;
/** Looks at which one test of one rule may be found at work: about a second of its own. */
const MAX_LOOKS = 10;
/** Kept back for a thread that notices its own time to be over. */
const GRACE_MS = 500;
/** The rules are compiled within this time. */
const START_MS = 10_000;

const ENTRY = new URL("main.ts", import.meta.url);

/** Starts a thread; null where it does not come up. It never keeps the process alive. */
export async function startThread(rules: RuleData, heapMb: number): Promise<Thread | null> {
  const progress = new SharedArrayBuffer(PROGRESS.length * Int32Array.BYTES_PER_ELEMENT);
  const place = new Int32Array(progress);
  const worker = new Worker(ENTRY, {
    workerData: { rules, progress } satisfies WorkerStart,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.unref();
  let hear: (end: WorkerAnswer | { readonly kind: "out_of_memory" | "broken" }) => void = () => undefined;
  let alive = true;
  worker.on("message", (answer: WorkerAnswer) => hear(answer));
  worker.on("error", (error: NodeJS.ErrnoException) => {
    alive = false;
    hear({ kind: error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "out_of_memory" : "broken" });
  });
  worker.on("exit", () => {
    alive = false;
    hear({ kind: "broken" });
  });
  const end = (): void => {
    alive = false;
    void worker.terminate();
  };

  const names = await new Promise<readonly string[] | null>((resolve) => {
    const late = setTimeout(() => resolve(null), START_MS);
    hear = (answer) => {
      clearTimeout(late);
      resolve(answer.kind === "ready" ? answer.names : null);
    };
  });
  hear = () => undefined;
  if (names === null) {
    end();
    return null;
  }
  const run = async (job: WorkerJob): Promise<ThreadEnd> => {
    const { promise, resolve } = Promise.withResolvers<ThreadEnd>();
    const look = createLooker(place, job.budgetMs + GRACE_MS);
    const timer = setInterval(() => {
      const seen = look();
      if (seen === "too_slow") resolve({ kind: "too_slow" });
      else if (seen !== null) resolve({ kind: "stuck", rule: names[seen] ?? "" });
    }, LOOK_MS);
    hear = (answer) => {
      if (answer.kind !== "ready") resolve(answer);
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(job);
    const result = await promise;
    clearInterval(timer);
    hear = () => undefined;
    if (result.kind !== "done") end();
    return result;
  };
  return { alive: () => alive, end, run };
}

/**
 * Looks at a thread: the number of the rule it is stuck at, too_slow, or null where all is well. It counts looks, not
 * the clock: a process that was stopped for a while, or has no turn, blames no rule for it.
 */
function createLooker(place: Int32Array, limitMs: number): () => number | "too_slow" | null {
  let last = Atomics.load(place, PROGRESS.step);
  let same = 0;
  let looks = 0;
  return () => {
    looks += 1;
    const step = Atomics.load(place, PROGRESS.step);
    const rule = Atomics.load(place, PROGRESS.rule);
    same = step === last ? same + 1 : 0;
    last = step;
    if (rule !== NO_RULE && same >= MAX_LOOKS) return rule;
    return looks * LOOK_MS >= limitMs ? "too_slow" : null;
  };
}
