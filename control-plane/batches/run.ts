import type { Contract } from "#shared/tools/define.ts";
import { outcomeError, unavailableError, type CheckAnswer, type CheckError } from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { vetTarget } from "#control-plane/checks/vet.ts";
import { createRecorder } from "#control-plane/batches/recorder.ts";
import {
  claimBatch,
  finishBatch,
  postponeBatch,
  readOpenTargets,
  writeResults,
  type NewResult,
  type StoredBatch,
} from "#control-plane/batches/store.ts";
import { isDatabaseAway } from "#control-plane/database/away.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { JobVerdict } from "#control-plane/jobs/pull.ts";

/** What runs stand on. */
export interface RunDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly contracts: ReadonlyMap<string, Contract>;
  /** Called with a way to end a run before its time; returns how to stop listening. */
  readonly onCancel: (id: string, cancel: () => void) => () => void;
}

/** Checks of one batch at once, as many as curl --parallel has; the hub takes turns between accounts beyond that. */
const AT_ONCE = 50;
/** For so long what no probe can be had for is left to another replica, or to a probe that comes back. */
const GIVE_UP_MS = 30_000;

/** Takes a batch up, at whatever point the last run left it; what has a result is not checked again. */
export async function runBatch(deps: RunDeps, id: string, stop: AbortSignal): Promise<JobVerdict> {
  try {
    const taken = await claimBatch(deps.sql, id, deps.checks.clock.now());
    return taken === null ? "done" : await runClaimed(deps, taken, stop);
  } catch (error) {
    if (isDatabaseAway(error)) return "later";
    throw error;
  }
}

async function runClaimed(deps: RunDeps, taken: StoredBatch, stop: AbortSignal): Promise<JobVerdict> {
  const { sql, checks } = deps;
  const targets = await readOpenTargets(sql, taken.id);
  const over = new AbortController();
  const forget = deps.onCancel(taken.id, () => over.abort());
  const recorder = createRecorder({
    write: (results) => writeResults(sql, taken, results),
    signal: stop,
    onLost: () => over.abort(),
  });
  const { waitingSince } = taken;
  const givesUp = waitingSince !== null && checks.clock.now().getTime() >= waitingSince.getTime() + GIVE_UP_MS;
  const signal = AbortSignal.any([stop, over.signal]);
  let left = 0;
  await forEachAtOnce(targets, AT_ONCE, async ({ ordinal, url }) => {
    if (signal.aborted) return;
    const result = await checkTarget(deps, taken, url, signal);
    if (signal.aborted) return;
    if (result.waits && !givesUp) left += 1;
    else recorder.add({ ordinal, ...result.stored });
  });
  const ours = await recorder.settle();
  forget();
  if (stop.aborted) return "later";
  if (!ours || over.signal.aborted) return "done";
  if (left > 0) {
    await postponeBatch(sql, taken, checks.clock.now());
    return "later";
  }
  await finishBatch(sql, taken, checks.clock.now());
  return "done";
}

interface TargetResult {
  readonly stored: Omit<NewResult, "ordinal">;
  /** No probe was to be had: worth another try. */
  readonly waits: boolean;
}

async function checkTarget(
  { checks, contracts }: RunDeps,
  { tool, accountId }: StoredBatch,
  url: string,
  signal: AbortSignal,
): Promise<TargetResult> {
  const startedAt = checks.clock.monotonic();
  const end = (error: CheckError, waits: boolean): TargetResult => ({
    stored: { status: "failed", result: JSON.stringify(error), durationMs: elapsed() },
    waits,
  });
  const elapsed = () => Math.round(checks.clock.monotonic() - startedAt);
  const contract = contracts.get(tool);
  // An older replica's tool, or a newer one's: left to those that have it.
  if (contract === undefined) return end(unavailableError("no_probe"), true);
  const vetted = vetTarget(checks, contract, accountId, url);
  // When it was submitted the target was allowed: the agents that allow it are attached elsewhere, or no longer.
  if (vetted?.ok !== true) return end(unavailableError("no_probe"), true);
  const answer = await runCheck(checks, {
    contract,
    params: vetted.params,
    accountId,
    locations: null,
    maxLocations: 1,
    pace: "paced",
    signal,
  });
  if (answer.kind === "single" && answer.outcome.status === "ok") {
    const result = JSON.stringify(answer.outcome.data);
    return { stored: { status: "ok", result, durationMs: elapsed() }, waits: false };
  }
  return answer.kind === "single" && answer.outcome.status !== "ok"
    ? end(outcomeError(answer.outcome), false)
    : end(whyUnanswered(answer), true);
}

function whyUnanswered(answer: CheckAnswer): CheckError {
  return unavailableError(answer.kind === "unavailable" ? answer.reason : "busy");
}

/** Runs `work` for every item, so many at once, in order. */
async function forEachAtOnce<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane));
}
