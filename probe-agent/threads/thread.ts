import { Worker } from "node:worker_threads";

/** What a thread is made of. */
interface ThreadOptions {
  /** Its program: says one thing when it is ready, then answers each order with one message. */
  readonly entry: URL;
  /** What the program finds in `workerData`. */
  readonly data?: unknown;
  /** Megabytes of its heap; more ends the thread, not the agent. */
  readonly heapMb: number;
}

/**
 * How one order ended. given_up: `look` said why; out_of_memory and broken are the thread's own ends. After anything
 * but an answer the thread is gone.
 */
export type ThreadEnd<Answer, Why> =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "given_up"; readonly why: Why }
  | { readonly kind: "out_of_memory" | "broken" };

/** An order, and how it is watched from outside. */
export interface Order<Why> {
  /** Copied, about 1 ms for 5 MB, so that it can be given again. */
  readonly order: unknown;
  /** Called every LOOK_MS; anything but null ends the thread. */
  look(this: void): Why | null;
}

/** A thread that is up. */
export interface Thread<Hello, Answer> {
  /** What it said when it was ready. */
  readonly hello: Hello;
  /** Whether it can still be given work. */
  alive(): boolean;
  /** One order at a time. */
  run<Why>(order: Order<Why>): Promise<ThreadEnd<Answer, Why>>;
  end(): void;
}

/** Between two looks at a thread at work, milliseconds. */
export const LOOK_MS = 100;
/** Megabytes for what lives short; part of no other limit. */
const YOUNG_MB = 12;
/** A thread is ready within this time. */
const START_MS = 10_000;

type Heard = { readonly kind: "message"; readonly message: unknown } | { readonly kind: "out_of_memory" | "broken" };

/** Starts a thread; null where it does not come up. It never keeps the process alive and sees no environment. */
export async function startThread<Hello, Answer>({
  entry,
  data,
  heapMb,
}: ThreadOptions): Promise<Thread<Hello, Answer> | null> {
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

  const first = await new Promise<Heard>((resolve) => {
    const late = setTimeout(() => resolve({ kind: "broken" }), START_MS);
    hear = (heard) => {
      clearTimeout(late);
      resolve(heard);
    };
  });
  hear = () => undefined;
  if (first.kind !== "message") {
    end();
    return null;
  }
  return {
    hello: first.message as Hello,
    alive: () => alive,
    end,
    async run<Why>({ order, look }: Order<Why>) {
      const { promise, resolve } = Promise.withResolvers<ThreadEnd<Answer, Why>>();
      hear = (heard) =>
        resolve(
          heard.kind === "message" ? { kind: "answered", answer: heard.message as Answer } : { kind: heard.kind },
        );
      // Throws where the order cannot be cloned: a bug of the caller's, after which nothing is left running.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(order);
      const timer = setInterval(() => {
        const why = look();
        if (why !== null) resolve({ kind: "given_up", why });
      }, LOOK_MS);
      const result = await promise;
      clearInterval(timer);
      hear = () => undefined;
      if (result.kind !== "answered") end();
      return result;
    },
  };
}
