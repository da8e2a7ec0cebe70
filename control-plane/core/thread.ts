import { Worker } from "node:worker_threads";

/** What became of an order that has no answer. busy: too many wait; too_slow: it took too long; broken: the thread failed. */
export interface NoAnswer {
  readonly kind: "busy" | "too_slow" | "broken";
}

/** A thread that does what would hold the event loop for long, one order after the other. */
export interface Thread<Order, Answer> {
  /** Runs an order. `prepare` is called when it is its turn, so that waiting orders hold little memory. */
  run(prepare: () => Order | Promise<Order>): Promise<Answer | NoAnswer>;
  close(): void;
}

/** Program and limits of a thread. */
interface ThreadOptions {
  /** File of the program, which answers each message with one message. */
  readonly program: URL;
  /** Maximum duration of an order, in milliseconds. */
  readonly mostMs: number;
  /** Maximum number of waiting orders. */
  readonly mostWaiting: number;
  /** Maximum size of the heap, in megabytes. */
  readonly heapMb: number;
}

/** A thread without work ends after this time, in milliseconds. */
const IDLE_MS = 30_000;

/** Creates a thread. It starts with the first order, and again after a failure. */
export function createThread<Order, Answer extends { readonly kind: string }>({
  program,
  mostMs,
  mostWaiting,
  heapMb,
}: ThreadOptions): Thread<Order, Answer> {
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
    const started = new Worker(program, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    started.unref();
    return started;
  }

  async function ask(order: Order): Promise<Answer | NoAnswer> {
    clearTimeout(idle);
    const thread = (worker ??= start());
    const { promise, resolve } = Promise.withResolvers<Answer | NoAnswer>();
    const broken = (): void => resolve({ kind: "broken" });
    const answered = (answer: Answer): void => resolve(answer);
    thread.once("message", answered).once("error", broken).once("exit", broken);
    const timer = setTimeout(() => resolve({ kind: "too_slow" }), mostMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(order);
    const answer = await promise;
    clearTimeout(timer);
    thread.off("message", answered).off("exit", broken);
    if (answer.kind === "too_slow" || answer.kind === "broken") end();
    else {
      thread.off("error", broken);
      idle = setTimeout(end, IDLE_MS).unref();
    }
    return answer;
  }

  return {
    async run(prepare) {
      if (waiting >= mostWaiting) return { kind: "busy" };
      waiting += 1;
      const turn = last.then(async () => ask(await prepare()));
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
