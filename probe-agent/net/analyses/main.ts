// A thread of the agent that analyses what strangers send. It knows the analyses by name and nothing of the world.
import { parentPort } from "node:worker_threads";
import { ANALYSES } from "#probe-agent/analysis/analyses.ts";
import type { AnalysisAnswer, AnalysisOrder } from "#probe-agent/net/analyses/messages.ts";
import { giveWay } from "#probe-agent/net/workers/give-way.ts";

giveWay();

function run({ name, input }: AnalysisOrder): AnalysisAnswer {
  try {
    return { ok: true, report: ANALYSES[name](input as never) };
  } catch (error) {
    return { ok: false, error };
  }
}

parentPort?.on("message", (order: AnalysisOrder) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(run(order));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage("ready");
