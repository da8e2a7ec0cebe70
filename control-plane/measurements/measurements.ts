import type { Logger } from "pino";
import type { Random } from "#shared/clock.ts";
import type { LocationItem } from "#shared/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Location, LocationRow } from "#control-plane/checks/answer.ts";
import type { Queryable, Transaction } from "#control-plane/database/connect.ts";
import { startUpkeep } from "#control-plane/database/upkeep.ts";
import type { Jobs } from "#control-plane/jobs.ts";
import { runDurably } from "#control-plane/jobs/durable-run/run.ts";
import type { RunStatus } from "#control-plane/jobs/durable-run/status.ts";
import { SWEEP_RUNS_MS } from "#control-plane/jobs/durable-run/upkeep.ts";
import {
  countMeasurements,
  findMeasurement,
  findShared,
  insertMeasurement,
  listMeasurements,
  MEASUREMENT_RUNS,
  readLocations,
  type ListedMeasurement,
  type StoredLocation,
  type StoredMeasurement,
} from "#control-plane/measurements/store.ts";
import { tailEvents, type NumberedEvent } from "#control-plane/measurements/tail.ts";
import { exportMeasurements, sweepMeasurements } from "#control-plane/measurements/upkeep.ts";
import { storeRow } from "#control-plane/measurements/view.ts";
import type { Watch } from "#control-plane/measurements/watch.ts";
import { createMeasurementWork, type MeasurementWorkDeps } from "#control-plane/measurements/work.ts";

/** What is asked for: a tool's call, as it was parsed. */
interface AskedMeasurement {
  readonly accountId: number;
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  /** null: one probe of the system's choice. */
  readonly items: readonly LocationItem[] | null;
  readonly share: boolean;
}

/** A measurement and what its locations have said so far. */
export interface FoundMeasurement {
  readonly measurement: StoredMeasurement;
  readonly locations: readonly StoredLocation[];
}

/** Calls that are kept: run in the background and polled, or answered and shared. */
export interface Measurements {
  /** Stores one that is to run at these places and sends its job, both or neither. */
  create(
    tx: Transaction,
    asked: AskedMeasurement,
    places: readonly Location[],
  ): Promise<{ id: string; shareId: string | null }>;
  /** Stores the answer of a call that has ended; returns the id of its public page. */
  share(asked: Omit<AskedMeasurement, "share">, rows: readonly LocationRow[]): Promise<string>;
  /** One of the account's own. */
  find(accountId: number, id: string): Promise<FoundMeasurement | null>;
  findShared(shareId: string): Promise<FoundMeasurement | null>;
  /** Newest first, and how many there are in all. */
  list(
    accountId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly ListedMeasurement[]; readonly total: number }>;
  /** Cancels one that has not ended, the rest of whose jobs is called back from the agents; as `find` afterwards. */
  cancel(tx: Transaction, accountId: number, id: string): Promise<FoundMeasurement | null>;
  /** The events after a number, those to come included; ends with the measurement, and when this replica stops. */
  tail(id: string, after: number, signal: AbortSignal): AsyncGenerator<NumberedEvent>;
  /** All of an account's, for its export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  contract(tool: string): Contract | undefined;
  /** Ends every stream, whose clients then resume at another replica, and the housekeeping. */
  close(): void;
}

/** What measurements need. */
interface MeasurementsDeps extends MeasurementWorkDeps {
  readonly jobs: Jobs;
  readonly watch: Watch;
  readonly random: Random;
  readonly log: Logger;
  /** Milliseconds for which they are kept. */
  readonly retentionMs: number;
}

// 144 bits; nobody guesses one of these.
const SHARE_ID_BYTES = 18;
const ID_BYTES = 15;

/** Opens the measurements of one replica and takes part in running them. */
export function createMeasurements(deps: MeasurementsDeps): Measurements {
  const { sql, jobs, checks, contracts, random, watch, metrics, log, retentionMs } = deps;
  const now = () => checks.clock.now();
  const token = (bytes: number) => Buffer.from(random.bytes(bytes)).toString("base64url");
  const upkeep = startUpkeep({
    everyMs: SWEEP_RUNS_MS,
    round: () => sweepMeasurements(deps),
    onError: (error) => log.debug({ err: error }, "measurements: housekeeping failed; it runs again later"),
  });
  const closing = new AbortController();
  const work = createMeasurementWork(deps);
  jobs.work("measurement", ({ id }, signal) => runDurably({ clock: checks.clock, watch }, work, id, signal));

  function make(asked: Omit<AskedMeasurement, "share">, share: boolean, status: RunStatus) {
    const createdAt = now();
    return {
      id: `msr_${token(ID_BYTES)}`,
      accountId: asked.accountId,
      tool: asked.contract.name,
      params: JSON.stringify(asked.params),
      expression: asked.items === null ? null : JSON.stringify(asked.items.map((item) => item.text)),
      status,
      shareId: share ? token(SHARE_ID_BYTES) : null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + retentionMs),
    };
  }

  async function withLocations(on: Queryable, measurement: StoredMeasurement | null): Promise<FoundMeasurement | null> {
    return measurement === null ? null : { measurement, locations: await readLocations(on, measurement.id) };
  }

  return {
    async create(tx, asked, places) {
      const made = make(asked, asked.share, "pending");
      const open = { status: null, result: null, durationMs: null };
      const rows = places.map((location, ordinal) => ({ ...open, ordinal, location: JSON.stringify(location) }));
      await insertMeasurement(tx, made, rows);
      await jobs.send(tx, "measurement", { id: made.id });
      return { id: made.id, shareId: made.shareId };
    },
    async share(asked, rows) {
      const made = make(asked, true, rows.some((row) => row.status === "ok") ? "completed" : "failed");
      const stored = rows.map((row, ordinal) => ({ ...storeRow(row), ordinal }));
      await insertMeasurement(sql, made, stored);
      metrics.ended.inc({ status: "shared" });
      return made.shareId ?? "";
    },
    find: async (accountId, id) => withLocations(sql, await findMeasurement(sql, accountId, id, now())),
    findShared: async (shareId) => withLocations(sql, await findShared(sql, shareId, now())),
    async list(accountId, page) {
      const [rows, total] = await Promise.all([
        listMeasurements(sql, accountId, now(), page),
        countMeasurements(sql, accountId, now()),
      ]);
      return { rows, total };
    },
    async cancel(tx, accountId, id) {
      if (await MEASUREMENT_RUNS.cancel(tx, accountId, id, now())) metrics.ended.inc({ status: "cancelled" });
      return withLocations(tx, await findMeasurement(tx, accountId, id, now()));
    },
    tail: (id, after, signal) => tailEvents({ sql, watch }, id, after, AbortSignal.any([signal, closing.signal])),
    export: (queryable, accountId) => exportMeasurements(queryable, accountId, contracts, now()),
    contract: (tool) => contracts.get(tool),
    close() {
      upkeep.stop();
      closing.abort();
    },
  };
}
