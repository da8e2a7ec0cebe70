import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { vetTarget } from "#control-plane/checks/vet-target.ts";
import {
  BATCH_RUNS,
  finishBatch,
  readOpenTargets,
  writeResults,
  type NewResult,
  type StoredBatch,
  type StoredTarget,
} from "#control-plane/checks/batches/store.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { askProbe, type UnitCall } from "#control-plane/checks/jobs/durable-run/ask-probes.ts";
import { createRecorder, type Recorder } from "#control-plane/checks/jobs/durable-run/recorder.ts";
import type { DurableWork, Unanswered } from "#control-plane/checks/jobs/durable-run/work.ts";

/** Dependencies of the work on batches. */
interface BatchWorkDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly contracts: ReadonlyMap<string, Contract>;
}

/** A target without a result. */
type OpenTarget = Pick<StoredTarget, "ordinal" | "url">;

/** Batches as durable work. A unit is a target; each is checked by a separate call; results are rows. */
export function createBatchWork(deps: BatchWorkDeps): DurableWork<StoredBatch, OpenTarget> {
  const { sql } = deps;
  return {
    claim: (id, now) => BATCH_RUNS.claim(sql, id, now),
    async begin(batch, writing) {
      const targets = await readOpenTargets(sql, batch.id);
      const recorder = createRecorder<NewResult>({
        ...writing,
        write: (results) => writeResults(sql, batch, results),
      });
      return {
        groups: targets.map((target) => [target]),
        async perform(group, signal) {
          const left = await Promise.all(group.map((target) => checkTarget(deps, batch, target, { recorder, signal })));
          return left.filter((one) => one !== null);
        },
        giveUp({ unit, error }) {
          const result = JSON.stringify(error);
          recorder.add({ ordinal: unit.ordinal, status: "failed", result, isUnanswered: true, durationMs: 0 });
        },
        settle: () => recorder.settle(),
      };
    },
    postpone: (lease, now) => BATCH_RUNS.postpone(sql, lease, now),
    async finish(lease, now) {
      await finishBatch(sql, lease, now);
    },
  };
}

/** Checks one target and records its answer. Returns null if there is one, otherwise the target with the error. */
async function checkTarget(
  { checks, contracts }: BatchWorkDeps,
  { tool, accountId }: StoredBatch,
  target: OpenTarget,
  { recorder, signal }: { readonly recorder: Recorder<NewResult>; readonly signal: AbortSignal },
): Promise<Unanswered<OpenTarget> | null> {
  const startedAt = checks.clock.monotonic();
  const contract = contracts.get(tool);
  const vetted = contract === undefined ? null : vetTarget(checks, contract, accountId, target.url);
  // If another release added the tool, or only agents of other replicas can reach the target, another replica calls.
  const call: UnitCall =
    contract === undefined || vetted?.ok !== true
      ? null
      : { contract, params: vetted.params, accountId, locations: null, maxLocations: 1, signal };
  const answer = await askProbe(checks, call);
  if (!answer.isAnswered) return { unit: target, error: answer.error };
  recorder.add({
    ordinal: target.ordinal,
    status: answer.status,
    result: JSON.stringify(answer.status === "ok" ? answer.data : answer.error),
    isUnanswered: false,
    durationMs: Math.round(checks.clock.monotonic() - startedAt),
  });
  return null;
}
