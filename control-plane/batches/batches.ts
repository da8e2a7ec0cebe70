import type { Random } from "#shared/clock.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { vetTarget } from "#control-plane/checks/vet.ts";
import { runBatch } from "#control-plane/batches/run.ts";
import {
  BATCH_CHANNEL,
  cancelBatch,
  findBatch,
  insertBatch,
  listBatches,
  readTargets,
  type CountedBatch,
  type StoredTarget,
} from "#control-plane/batches/store.ts";
import { startUpkeep } from "#control-plane/batches/upkeep.ts";
import { showBatch, showResult, type InvalidTarget } from "#control-plane/batches/view.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import type { Jobs } from "#control-plane/jobs.ts";

/** What was submitted, sorted out: accepted targets and refused ones, both in their order. */
export interface SubmittedBatch {
  readonly id: string;
  readonly total: number;
  readonly invalid: readonly InvalidTarget[];
}

/** Which results are to be read. */
export interface ResultsPage {
  readonly limit: number;
  readonly offset: number;
}

/** A batch with a page of its results. */
export interface FoundBatch {
  readonly batch: CountedBatch;
  readonly targets: readonly StoredTarget[];
}

/** Many targets checked by one tool in the background. */
export interface Batches {
  /** Stores a batch and has it run. null: none of its targets can be checked; `invalid` says why each cannot. */
  submit(
    tx: Transaction,
    accountId: number,
    contract: Contract,
    urls: readonly string[],
  ): Promise<{ readonly batch: SubmittedBatch | null; readonly invalid: readonly InvalidTarget[] }>;
  /** One with a page of its results; null where the account has none of that id. */
  find(accountId: number, id: string, page: ResultsPage): Promise<FoundBatch | null>;
  /** Cancels one that has not ended, whose checks under way are called back; as `find` once it is cancelled. */
  cancel(tx: Transaction, accountId: number, id: string): Promise<FoundBatch | null>;
  /** The tool of that name that takes one target. */
  contract(tool: string): Contract | undefined;
  export(sql: Queryable, accountId: number): Promise<unknown>;
  close(): void;
}

/** What batches stand on. */
export interface BatchesDeps {
  readonly sql: Sql;
  readonly jobs: Jobs;
  readonly checks: CheckContext;
  readonly contracts: ReadonlyMap<string, Contract>;
  readonly notifications: Notifications;
  readonly random: Random;
}

const ID_BYTES = 15;
/** decisions 11: kept 7 days. */
const KEPT_MS = 7 * 86_400_000;
const MOST_EXPORTED = 1_000;
const MOST_TARGETS = 100;
const FIRST_PAGE: ResultsPage = { limit: 100, offset: 0 };

/** Opens the batches of one replica and takes part in running them. */
export function createBatches(deps: BatchesDeps): Batches {
  const { sql, jobs, checks, contracts, notifications, random } = deps;
  const now = () => checks.clock.now();
  const running = new Map<string, () => void>();
  notifications.listen(
    BATCH_CHANNEL,
    (id) => running.get(id)?.(),
    // What was cancelled meanwhile is noticed when the next result is written.
    () => {},
  );
  const onCancel = (id: string, cancel: () => void) => {
    running.set(id, cancel);
    return () => void running.delete(id);
  };
  jobs.work("batch", ({ id }, signal) => runBatch({ sql, checks, contracts, onCancel }, id, signal));
  const upkeep = startUpkeep(sql, now);

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
      await cancelBatch(tx, accountId, id, now());
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
    close: () => upkeep.stop(),
  };
}
