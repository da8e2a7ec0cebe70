import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { vetTarget } from "#control-plane/checks/vet-target.ts";
import {
  BATCH_RUNS,
  findBatch,
  insertBatch,
  listBatches,
  readBatchStates,
  readTargets,
  type CountedBatch,
  type StoredTarget,
  finishBatch,
  readOpenTargets,
  writeResults,
  type NewResult,
  type StoredBatch,
} from "#control-plane/checks/batches/store.ts";
import { showBatch, showResult, type InvalidTarget } from "#control-plane/checks/batches/serialize.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Jobs } from "#control-plane/checks/jobs.ts";
import { runDurably } from "#control-plane/checks/jobs/durable-run/run.ts";
import { SWEEP_RUNS_MS, sweepRuns, type RunAges } from "#control-plane/checks/jobs/durable-run/upkeep.ts";
import { createRunWatch } from "#control-plane/checks/jobs/durable-run/watch.ts";
import { askProbe, type UnitCall } from "#control-plane/checks/jobs/durable-run/ask-probes.ts";
import { createRecorder, type Recorder } from "#control-plane/checks/jobs/durable-run/recorder.ts";
import type { DurableWork, Unanswered } from "#control-plane/checks/jobs/durable-run/work.ts";

/** A stored submission. */
interface SubmittedBatch {
  readonly id: string;
  /** Number of accepted targets. */
  readonly total: number;
  /** Refused targets, in the order submitted. */
  readonly invalid: readonly InvalidTarget[];
}

/** The page of results to read. */
interface ResultsPage {
  readonly limit: number;
  readonly offset: number;
}

/** A batch with a page of its results. */
interface FoundBatch {
  readonly batch: CountedBatch;
  readonly targets: readonly StoredTarget[];
}

/** Checks of many targets with one tool, in the background. */
export interface Batches {
  /**
   * Stores a batch and sends its job. `batch` is null if none of the targets can be checked; `invalid` says why each
   * refused target cannot.
   */
  submit(
    tx: Transaction,
    accountId: number,
    contract: Contract,
    urls: readonly string[],
  ): Promise<{ readonly batch: SubmittedBatch | null; readonly invalid: readonly InvalidTarget[] }>;
  /** Finds a batch with a page of its results; null if the account has none with this id. */
  find(accountId: number, id: string, page: ResultsPage): Promise<FoundBatch | null>;
  /** Cancels a batch that has not ended, with its open checks on agents. Resolves as `find` does for the first page. */
  cancel(tx: Transaction, accountId: number, id: string): Promise<FoundBatch | null>;
  /** Finds the tool of this name; undefined if there is none or it takes no target. */
  contract(tool: string): Contract | undefined;
  /** Returns the account's batches for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Stops the housekeeping and the watch. Call it when no attempt is running any more. */
  close(): void;
}

const ID_BYTES = 15;
/** Retention of a batch after its creation, in milliseconds: 7 days. */
const KEPT_MS = 7 * 86_400_000;
/** Ages of batches. 100 checks of at most 90 s, 50 at a time, take 3 minutes: far less than `forgottenMs`. */
const AGES: RunAges = { forgottenMs: 6 * 3_600_000, deletedAtOnce: 100 };
const MOST_EXPORTED = 1_000;
const MOST_TARGETS = 100;
const FIRST_PAGE: ResultsPage = { limit: 100, offset: 0 };

/** Opens the batches of one replica, which also runs jobs of the queue `batch`. */
export function createBatches(
  deps: Pick<App, "sql" | "random" | "log" | "timers"> & {
    readonly jobs: Jobs;
    readonly checks: CheckContext;
    readonly contracts: ReadonlyMap<string, Contract>;
    readonly notifications: Notifications;
  },
): Batches {
  const { sql, jobs, checks, contracts, notifications, random, log, timers } = deps;
  const now = () => checks.clock.now();
  const watch = createRunWatch({
    channel: BATCH_RUNS.channel,
    notifications,
    readStates: (ids) => readBatchStates(sql, ids),
  });
  const work = createBatchWork({ sql, checks, contracts });
  jobs.work("batch", ({ id }, signal) => runDurably({ clock: checks.clock, watch }, work, id, signal));
  const upkeep = startUpkeep({
    everyMs: SWEEP_RUNS_MS,
    round: () => sweepRuns(sql, BATCH_RUNS, AGES, now()),
    name: "batches: housekeeping",
    log,
    timers,
  });

  async function find(on: Queryable, accountId: number, id: string, page: ResultsPage): Promise<FoundBatch | null> {
    const batch = await findBatch(on, accountId, id, now());
    return batch === null ? null : { batch, targets: await readTargets(on, id, page) };
  }

  return {
    async submit(tx, accountId, contract, urls) {
      const firsts = new Map<string, number>();
      const accepted: { url: string; original: number }[] = [];
      const invalid: InvalidTarget[] = [];
      for (const url of urls) {
        const vetted = vetTarget(checks, contract, accountId, url);
        if (vetted === null || !vetted.ok) {
          invalid.push({ url, code: vetted?.code ?? "missing_parameter", message: vetted?.message ?? "no target" });
          continue;
        }
        const original = firsts.get(vetted.key) ?? accepted.length;
        firsts.set(vetted.key, original);
        accepted.push({ url, original });
      }
      if (accepted.length === 0) return { batch: null, invalid };
      const id = `bat_${Buffer.from(random.bytes(ID_BYTES)).toString("base64url")}`;
      const createdAt = now();
      const made = {
        id,
        accountId,
        tool: contract.name,
        invalid: JSON.stringify(invalid),
        createdAt,
        expiresAt: new Date(createdAt.getTime() + KEPT_MS),
      };
      await insertBatch(tx, made, accepted);
      await jobs.send(tx, "batch", { id, accountId });
      return { batch: { id, total: accepted.length, invalid }, invalid };
    },
    find: (accountId, id, page) => find(sql, accountId, id, page),
    async cancel(tx, accountId, id) {
      await BATCH_RUNS.cancel(tx, accountId, id, now());
      return find(tx, accountId, id, FIRST_PAGE);
    },
    contract(tool) {
      const contract = contracts.get(tool);
      return contract?.target === null ? undefined : contract;
    },
    async export(queryable, accountId) {
      const exported: unknown[] = [];
      for (const batch of await listBatches(queryable, accountId, MOST_EXPORTED)) {
        const targets = await readTargets(queryable, batch.id, { limit: MOST_TARGETS, offset: 0 });
        exported.push({
          ...showBatch(batch, targets.length),
          results: targets.flatMap((target) => showResult(target) ?? []),
        });
      }
      return exported;
    },
    close() {
      upkeep.stop();
      watch.close();
    },
  };
}

/** A target without a result. */
type OpenTarget = Pick<StoredTarget, "ordinal" | "url">;

/** Batches as durable work. A unit is a target; each is checked by a separate call; results are rows. */
function createBatchWork(
  deps: Pick<App, "sql"> & { readonly checks: CheckContext; readonly contracts: ReadonlyMap<string, Contract> },
): DurableWork<StoredBatch, OpenTarget> {
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
  { checks, contracts }: { readonly checks: CheckContext; readonly contracts: ReadonlyMap<string, Contract> },
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
