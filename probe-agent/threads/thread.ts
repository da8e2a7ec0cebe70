import { Worker } from "node:worker_threads";

/** Settings of a thread. */
interface ThreadOptions {
  /** Its program. It sends one message when it is ready and then answers each order with one message. */
  readonly entry: URL;
  /** Value of `workerData` in the program. */
  readonly data?: unknown;
  /** Heap limit in megabytes. Exceeding it ends the thread, not the agent. */
  readonly heapMb: number;
  /** Time within which it must be ready, in milliseconds. Default: 20,000. */
  readonly startMs?: number;
}

/**
 * How one order ended. given_up: `check` returned the reason. out_of_memory and broken: the thread ended by itself.
 * After anything but an answer, the thread has ended.
 */
export type ThreadEnd<Answer, Why> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "given_up"; readonly why: Why }
  | { readonly kind: "out_of_memory" | "broken" };

/** An order and its check from outside. */
export interface Order<Why> {
  /** Copied into the thread (about 1 ms for 5 MB), so that it can be run again. */
  readonly order: unknown;
  /** Called every CHECK_INTERVAL_MS. A result other than null ends the thread. */
  check(this: void): Why | null;
}

/** A running thread. */
export interface Thread<Hello, Answer> {
  /** The message that the thread sent when it was ready. */
  readonly hello: Hello;
  /** Whether the thread can still be given work. */
  alive(): boolean;
  /** Runs one order. Only one order at a time. */
  run<Why>(order: Order<Why>): Promise<ThreadEnd<Answer, Why>>;
  end(): void;
}

/** Interval between two checks of a thread at work, in milliseconds. */
export const CHECK_INTERVAL_MS = 100;
/** Heap for short-lived objects, in megabytes. Not part of any other limit. */
const YOUNG_MB = 12;
/** Time within which a thread must be ready, in milliseconds. It takes half a second of processor time. */
const START_MS = 20_000;

type Heard = { readonly kind: "message"; readonly message: unknown } | { readonly kind: "out_of_memory" | "broken" };

/** Why there is no thread: null if it cannot be started, late if it was not ready in time on an overloaded machine. */
export type NoThread = null | "late";

/** Starts a thread. The thread does not keep the process alive and has an empty environment. */
export async function startThread<Hello, Answer>({
  entry,
  data,
  heapMb,
  startMs = START_MS,
}: ThreadOptions): Promise<Thread<Hello, Answer> | NoThread> {
  const worker = new Worker(entry, {
    workerData: data,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  worker.unref();
  let alive = true;
  let hear: (heard: Heard) => void = () => undefined;
  worker.on("message", (message: unknown) => hear({ kind: "message", message }));
  worker.on("messageerror", () => hear({ kind: "broken" }));
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

  const first = await new Promise<Heard | { readonly kind: "late" }>((resolve) => {
    const late = setTimeout(() => resolve({ kind: "late" }), startMs);
    hear = (heard) => {
      clearTimeout(late);
      resolve(heard);
    };
  });
  hear = () => undefined;
  if (first.kind !== "message") {
    end();
    return first.kind === "late" ? "late" : null;
  }
  return {
    hello: first.message as Hello,
    alive: () => alive,
    end,
    async run<Why>({ order, check }: Order<Why>) {
      const { promise, resolve } = Promise.withResolvers<ThreadEnd<Answer, Why>>();
      hear = (heard) =>
        resolve(
          heard.kind === "message" ? { kind: "answered", answer: heard.message as Answer } : { kind: heard.kind },
        );
      // Throws if the order cannot be cloned. That is a bug of the caller; nothing is left running.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(order);
      const timer = setInterval(() => {
        const why = check();
        if (why !== null) resolve({ kind: "given_up", why });
      }, CHECK_INTERVAL_MS);
      const result = await promise;
      clearInterval(timer);
      hear = () => undefined;
      if (result.kind !== "answered") end();
      return result;
    },
  };
}
