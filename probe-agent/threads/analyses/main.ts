// Program of the agent's analysis threads. It has only the analyses and no access to files or the network.
import { parentPort, workerData } from "node:worker_threads";
import { ANALYSES } from "#probe-agent/threads/analyses/list.ts";
import { createTechSearch } from "#probe-agent/threads/analyses/tech-search.ts";
import {
  PROGRESS,
  type AnalysisOrder,
  type TechOrder,
  type ThreadAnswer,
  type ThreadStart,
} from "#probe-agent/threads/analyses/messages.ts";
import { readThreadId } from "#probe-agent/threads/processor-time.ts";
import { setPriority } from "node:os";

/**
 * Niceness of the thread. It gets two thirds of the time of the agent's own event loop when both need the processor
 * (sched(7): a factor of 1.25 for each step). A higher value starves pages on a machine that other programs keep busy:
 * at 10, a page of 5 MB took 12 s.
 */
const NICE = 2;

lowerPriority();
const start = workerData as ThreadStart;
Atomics.store(new Int32Array(start.progress), PROGRESS.thread, readThreadId());
const searchTechnologies = createTechSearch(start, () => performance.now(), ownProcessorMs);

function ownProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function run(order: AnalysisOrder | TechOrder): ThreadAnswer {
  try {
    const report =
      order.kind === "analysis" ? ANALYSES.get(order.name)?.analyse(order.input as never) : searchTechnologies(order);
    return { ok: true, report };
  } catch (error) {
    return { ok: false, error };
  }
}

parentPort?.on("message", (order: AnalysisOrder | TechOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run(order));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");

/**
 * Lowers the priority of the calling thread, so that heartbeats are sent and times are measured correctly while threads
 * are busy. Works only on Linux, where each thread has its own niceness (setpriority(2), NOTES); elsewhere the niceness
 * belongs to the process.
 */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICE);
  } catch {
    // A container may forbid it. All threads have the same priority then.
  }
}
