// A thread of the agent that holds rules against pages. It compiles the rules once; where it is can be seen from outside
// at any time, also while an expression runs.
import { parentPort, workerData } from "node:worker_threads";
import { detectWatched } from "#probe-agent/analysis/tech.ts";
import { compileRules } from "#probe-agent/analysis/tech/compile.ts";
import {
  NO_RULE,
  PROGRESS,
  type WorkerAnswer,
  type WorkerJob,
  type WorkerReady,
  type WorkerStart,
} from "#probe-agent/net/tech/messages.ts";

const { rules: data, progress } = workerData as WorkerStart;
const place = new Int32Array(progress);
const rules = compileRules(data);
const indexes = new Map(rules.rules.map((rule, index) => [rule, index]));

function run({ page, budgetMs, skip }: WorkerJob): WorkerAnswer {
  const until = performance.now() + budgetMs;
  const { technologies, unfinished } = detectWatched(page, rules, {
    skip: new Set(skip),
    goOn(rule) {
      Atomics.store(place, PROGRESS.rule, indexes.get(rule) ?? NO_RULE);
      Atomics.add(place, PROGRESS.step, 1);
      return performance.now() < until;
    },
  });
  Atomics.store(place, PROGRESS.rule, NO_RULE);
  return { technologies, unfinished, unusable: rules.unusable };
}

function say(answer: WorkerReady | WorkerAnswer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answer);
}

parentPort?.on("message", (job: WorkerJob) => say(run(job)));
say({ names: rules.rules.map(({ name }) => name) });
