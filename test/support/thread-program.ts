// The program of a thread under test: does as it is told.
import { parentPort, workerData } from "node:worker_threads";

/** What a test can have a thread do. */
export type ThreadOrder =
  | { readonly do: "echo"; readonly value: unknown }
  | { readonly do: "spin" | "hoard" | "leave" }
  /** Ends the thread as long as the shared number is above 0, which each end lowers; then echoes. */
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
    case "leave":
      return process.exit(3);
    case "leave-while":
      if (Atomics.sub(new Int32Array(order.left), 0, 1) > 0) process.exit(3);
      return { ok: true, report: "stayed" };
  }
}

if (workerData === "never ready") process.exit(1);
// In the place of the program of analyses the order is what would be analysed.
parentPort?.on("message", (order: ThreadOrder | { readonly input: ThreadOrder }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run("input" in order ? order.input : order));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");
