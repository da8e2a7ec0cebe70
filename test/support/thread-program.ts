// Program of a thread under test. It runs the orders that a test sends.
import { parentPort, workerData } from "node:worker_threads";
import { PROGRESS, type ThreadStart } from "#probe-agent/threads/analyses/messages.ts";
import { readThreadId } from "#probe-agent/threads/processor-time.ts";

/** Orders that a test can send to the thread. */
export type ThreadOrder =
  | { readonly do: "echo"; readonly value: unknown }
  | { readonly do: "spin" | "hoard" | "leave" }
  /** Sets the shared number to 1 and then uses no processor time, like a thread that a busy machine does not run. */
  | { readonly do: "starve"; readonly begun: SharedArrayBuffer }
  /** Ends the thread while the shared number is above 0 (each end decrements it), then echoes. */
  | { readonly do: "leave-while"; readonly left: SharedArrayBuffer };

function run(order: ThreadOrder): unknown {
  switch (order.do) {
    case "echo":
      return order.value;
    case "spin":
      for (;;);
    case "hoard": {
      const kept: unknown[] = [];
      for (;;) kept.push(Array.from({ length: 1000 }, (_, n) => ({ n })));
    }
    case "starve":
      Atomics.store(new Int32Array(order.begun), 0, 1);
      return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    case "leave":
      return process.exit(3);
    case "leave-while":
      if (Atomics.sub(new Int32Array(order.left), 0, 1) > 0) process.exit(3);
      return { ok: true, report: "stayed" };
  }
}

if (workerData === "never ready") process.exit(1);
const { progress } = (workerData ?? {}) as Partial<ThreadStart>;
if (progress !== undefined) Atomics.store(new Int32Array(progress), PROGRESS.thread, readThreadId());
// If the thread replaces the analysis program, the order is the input of the analysis.
parentPort?.on("message", (order: ThreadOrder | { readonly input: ThreadOrder }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run("input" in order ? order.input : order));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");
