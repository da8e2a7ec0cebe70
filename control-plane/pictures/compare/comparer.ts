import { Worker } from "node:worker_threads";
import type { CompareAnswer, CompareOrder } from "#control-plane/pictures/compare/messages.ts";

/** What became of an order. busy: too many wait; too_slow: it took too long; broken: the thread failed. */
export type Compared = CompareAnswer | { readonly kind: "busy" | "too_slow" | "broken" };

/** Compares pictures in a thread, one order after the other. */
export interface Comparer {
  /** Runs an order. `prepare` is called when it is its turn, so that waiting orders hold little memory. */
  run(prepare: () => Promise<CompareOrder>): Promise<Compared>;
  close(): void;
}

/** Limits of a comparer. */
interface ComparerOptions {
  /** Maximum duration of an order, in milliseconds. */
  readonly mostMs?: number;
  /** Maximum number of waiting orders. Each holds a picture of up to 4 MB. */
  readonly mostWaiting?: number;
}

/** Two pictures of the largest size take 3 s; the rest is a reserve for a busy machine. */
const MOST_MS = 30_000;
const MOST_WAITING = 32;
/** A thread without work ends after this time, in milliseconds. */
const IDLE_MS = 30_000;
/** Heap of the thread, in megabytes. The pixels are outside of it, and their number is limited. */
const HEAP_MB = 256;

/** Creates a comparer. Its thread starts with the first order. */
export function createComparer({ mostMs = MOST_MS, mostWaiting = MOST_WAITING }: ComparerOptions = {}): Comparer {
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function end(): void {
    clearTimeout(idle);
    void worker?.terminate();
    worker = null;
  }

  function start(): Worker {
    const started = new Worker(new URL("main.ts", import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    started.unref();
    return started;
  }

  async function compare(order: CompareOrder): Promise<Compared> {
    clearTimeout(idle);
    const thread = (worker ??= start());
    const { promise, resolve } = Promise.withResolvers<Compared>();
    const broken = (): void => resolve({ kind: "broken" });
    const answered = (answer: CompareAnswer): void => resolve(answer);
    thread.once("message", answered).once("error", broken).once("exit", broken);
    const timer = setTimeout(() => resolve({ kind: "too_slow" }), mostMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(order);
    const compared = await promise;
    clearTimeout(timer);
    thread.off("message", answered).off("exit", broken);
    if (compared.kind === "too_slow" || compared.kind === "broken") end();
    else {
      thread.off("error", broken);
      idle = setTimeout(end, IDLE_MS).unref();
    }
    return compared;
  }

  return {
    async run(prepare) {
      if (waiting >= mostWaiting) return { kind: "busy" };
      waiting += 1;
      const turn = last.then(async () => compare(await prepare()));
      last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        waiting -= 1;
      }
    },
    close: end,
  };
}
