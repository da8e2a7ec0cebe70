// Program of the agent's analysis threads. It has only the analyses and no access to files or the network.
import { parentPort, workerData } from "node:worker_threads";
import { ANALYSES } from "#probe-agent/analysis/site/analyses.ts";
import { createTechSearch } from "#probe-agent/threads/analyses/tech-search.ts";
import {
  PROGRESS,
  type AnalysisOrder,
  type TechOrder,
  type ThreadAnswer,
  type ThreadStart,
} from "#probe-agent/threads/analyses/messages.ts";
import { lowerPriority } from "#probe-agent/threads/lower-priority.ts";
import { readThreadId } from "#probe-agent/threads/processor-time.ts";

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
    const report = order.kind === "analysis" ? ANALYSES[order.name](order.input as never) : searchTechnologies(order);
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
