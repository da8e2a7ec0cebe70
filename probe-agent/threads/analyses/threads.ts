import type { Clock } from "#shared/time/clock.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import {
  PROGRESS,
  type AnalysisOrder,
  type TechOrder,
  type ThreadAnswer,
  type ThreadStart,
} from "#probe-agent/threads/analyses/messages.ts";
import { createPool, type Pool, type Pooled } from "#probe-agent/threads/pool.ts";
import { readProcessorMs } from "#probe-agent/threads/processor-time.ts";
import { startThread, type Order, type ThreadEnd } from "#probe-agent/threads/thread.ts";

/** Settings of the analysis threads. */
export interface AnalysisThreadsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Rules of the search for technologies. Default: none. */
  readonly rules?: RuleData;
  /** Heap limit of each thread in megabytes. Default: twice what a page of 5 MB and 300,000 elements needs. */
  readonly heapMb?: number;
  /** Program of the threads. Tests use another one. */
  readonly entry?: URL;
}

/** A thread that analyses pages and searches them for technologies. */
export interface AnalysisThread extends Pooled {
  /** Position of its search for technologies (PROGRESS). */
  readonly place: Int32Array;
  /** Returns the processor time that the thread has used, in milliseconds; null if it is not known. */
  processorMs(this: void): number | null;
  /** Runs one order. Only one order at a time. */
  run<Why>(order: Order<Why> & { readonly order: AnalysisOrder | TechOrder }): Promise<ThreadEnd<ThreadAnswer, Why>>;
}

const HEAP_MB = 512;
const NO_RULES: RuleData = { technologies: [], categories: [] };
const ENTRY = new URL("main.ts", import.meta.url);

/**
 * Creates the one pool of an agent. Each thread has a separate heap and allocator arena (about 60 MB at work), so all
 * analyses share the same few threads.
 */
export function createAnalysisThreads({
  clock,
  rules = NO_RULES,
  heapMb = HEAP_MB,
  entry = ENTRY,
}: AnalysisThreadsOptions): Pool<AnalysisThread> {
  return createPool<AnalysisThread>({
    clock,
    async start() {
      const progress = new SharedArrayBuffer(PROGRESS.length * Int32Array.BYTES_PER_ELEMENT);
      const data: ThreadStart = { rules, progress };
      const thread = await startThread<string, ThreadAnswer>({ entry, data, heapMb });
      if (thread === null || thread === "late") return thread;
      const place = new Int32Array(progress);
      return {
        place,
        processorMs: () => readProcessorMs(Atomics.load(place, PROGRESS.thread)),
        alive: () => thread.alive(),
        end: () => thread.end(),
        run: (order) => thread.run(order),
      };
    },
  });
}
