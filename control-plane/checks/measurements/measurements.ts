import type { LocationItem } from "#shared/internet/locations.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { Location, LocationRow } from "#control-plane/checks/answer.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction, Sql } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Jobs } from "#control-plane/checks/jobs.ts";
import { runDurably } from "#control-plane/checks/jobs/durable-run/run.ts";
import { type RunStatus, isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";
import { SWEEP_RUNS_MS, sweepRuns, type RunAges } from "#control-plane/checks/jobs/durable-run/upkeep.ts";
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
} from "#control-plane/checks/measurements/store.ts";
import { toStoredRow, showMeasurement, parseStoredEvent } from "#control-plane/checks/measurements/serialize.ts";
import type { Watch } from "#control-plane/checks/measurements/watch.ts";
import { createMeasurementWork } from "#control-plane/checks/measurements/work.ts";
import { readEvents } from "#control-plane/checks/measurements/stream-store.ts";

const AGES: RunAges = { forgottenMs: 3_600_000, deletedAtOnce: 500 };
/** Maximum number of measurements in one export: the newest. */
const MOST_EXPORTED = 10_000;

/** Runs one round of housekeeping. Rejects while the database is away. */
export async function sweepMeasurements({
  sql,
  checks,
}: Pick<App, "sql"> & { readonly checks: Pick<App, "clock"> }): Promise<void> {
  await sweepRuns(sql, MEASUREMENT_RUNS, AGES, checks.clock.now());
}

/** Returns the measurements of an account with their results, newest first. */
async function exportMeasurements(
  sql: Queryable,
  accountId: number,
  contracts: ReadonlyMap<string, Contract>,
  now: Date,
): Promise<readonly unknown[]> {
  const listed = await listMeasurements(sql, accountId, null, now, { limit: MOST_EXPORTED, offset: 0 });
  const exported: unknown[] = [];
  for (const measurement of listed) {
    const locations = await readLocations(sql, measurement.id);
    exported.push(showMeasurement(measurement, locations, contracts.get(measurement.tool)));
  }
  return exported;
}

/** A requested measurement: the parsed call of a tool. */
interface MeasurementRequest {
  readonly accountId: number;
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
  /** Items of the location expression; null if the control plane chooses one probe. */
  readonly items: readonly LocationItem[] | null;
  readonly share: boolean;
}

/** A measurement with the results that its locations have so far. */
export interface FoundMeasurement {
  readonly measurement: StoredMeasurement;
  readonly locations: readonly StoredLocation[];
}

/** Stored calls of tools: run in the background and polled, or answered directly and shared. */
export interface Measurements {
  /** Stores a measurement that will run at these places and sends its job. The transaction does both or neither. */
  create(
    tx: Transaction,
    request: MeasurementRequest,
    places: readonly Location[],
  ): Promise<{ id: string; shareId: string | null }>;
  /** Stores the answer of a finished call. Returns the id of its public page. */
  share(request: Omit<MeasurementRequest, "share">, rows: readonly LocationRow[]): Promise<string>;
  /** Finds a measurement of the account; null if it has none with this id. */
  find(accountId: number, id: string): Promise<FoundMeasurement | null>;
  findShared(shareId: string): Promise<FoundMeasurement | null>;
  /** Lists one page of the account's measurements with some tools (null: all), newest first, and the total number. */
  list(
    accountId: number,
    tools: readonly string[] | null,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly ListedMeasurement[]; readonly total: number }>;
  /** Cancels a measurement that has not ended, with its open jobs on agents. Resolves as `find` does afterwards. */
  cancel(tx: Transaction, accountId: number, id: string): Promise<FoundMeasurement | null>;
  /**
   * Yields stored and future events after the given number. Ends when the measurement ends, `signal` is aborted or this
   * replica stops.
   */
  tail(id: string, after: number, signal: AbortSignal): AsyncGenerator<NumberedEvent>;
  /** Returns the account's measurements for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  contract(tool: string): Contract | undefined;
  /** Stops the housekeeping and ends every stream. Clients then resume their streams at another replica. */
  close(): void;
}

// 144 bits: too many to guess.
const SHARE_ID_BYTES = 18;
const ID_BYTES = 15;

/**
 * Opens the measurements of one replica, which also runs jobs of the queue `measurement`. A measurement is kept for
 * `retentionMs` after its creation.
 */
export function createMeasurements(
  deps: Pick<App, "random" | "log" | "timers"> &
    Parameters<typeof createMeasurementWork>[0] & {
      readonly jobs: Jobs;
      readonly watch: Watch;
      readonly retentionMs: number;
    },
): Measurements {
  const { sql, jobs, checks, contracts, random, watch, metrics, log, timers, retentionMs } = deps;
  const now = () => checks.clock.now();
  const token = (bytes: number) => Buffer.from(random.bytes(bytes)).toString("base64url");
  const upkeep = startUpkeep({
    everyMs: SWEEP_RUNS_MS,
    round: () => sweepMeasurements(deps),
    name: "measurements: housekeeping",
    log,
    timers,
  });
  const closing = new AbortController();
  const work = createMeasurementWork(deps);
  jobs.work("measurement", ({ id }, signal) => runDurably({ clock: checks.clock, watch }, work, id, signal));

  function newMeasurement(request: Omit<MeasurementRequest, "share">, share: boolean, status: RunStatus) {
    const createdAt = now();
    return {
      id: `msr_${token(ID_BYTES)}`,
      accountId: request.accountId,
      tool: request.contract.name,
      params: JSON.stringify(request.params),
      expression: request.items === null ? null : JSON.stringify(request.items.map((item) => item.text)),
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
    async create(tx, request, places) {
      const made = newMeasurement(request, request.share, "pending");
      const open = { status: null, result: null, durationMs: null };
      const rows = places.map((location, ordinal) => ({ ...open, ordinal, location: JSON.stringify(location) }));
      await insertMeasurement(tx, made, rows);
      await jobs.send(tx, "measurement", { id: made.id });
      return { id: made.id, shareId: made.shareId };
    },
    async share(request, rows) {
      const made = newMeasurement(request, true, rows.some((row) => row.status === "ok") ? "completed" : "failed");
      const stored = rows.map((row, ordinal) => ({ ...toStoredRow(row), ordinal }));
      await insertMeasurement(sql, made, stored);
      metrics.ended.inc({ status: "shared" });
      return made.shareId ?? "";
    },
    find: async (accountId, id) => withLocations(sql, await findMeasurement(sql, accountId, id, now())),
    findShared: async (shareId) => withLocations(sql, await findShared(sql, shareId, now())),
    async list(accountId, tools, page) {
      const [rows, total] = await Promise.all([
        listMeasurements(sql, accountId, tools, now(), page),
        countMeasurements(sql, accountId, tools, now()),
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

/** An event of a measurement. Numbers begin at 1 and are the same in every stream of the measurement. */
interface NumberedEvent {
  readonly number: number;
  readonly event: string;
  readonly data: unknown;
}

/**
 * Yields stored and future events with a number above `after`, whichever replica writes them. Ends when the measurement
 * has ended or is deleted, or when `signal` is aborted. Rejects if the database does not answer; the client reconnects.
 */
export async function* tailEvents(
  { sql, watch }: { readonly sql: Sql; readonly watch: Watch },
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<NumberedEvent> {
  let last = after;
  // The state that was known before the rows were read decides whether more events can follow.
  let known = { events: last, final: false };
  let wake = Promise.withResolvers<null>();
  const unwatch = watch.watch(id, (state) => {
    known = state === null ? { events: last, final: true } : { events: state.events, final: isFinal(state.status) };
    if (known.final || known.events > last) wake.resolve(null);
  });
  const stop = () => wake.resolve(null);
  signal.addEventListener("abort", stop);
  try {
    while (!signal.aborted) {
      const { final } = known;
      const page = await readEvents(sql, id, last);
      for (const stored of page) {
        yield { number: stored.number, event: stored.event, data: parseStoredEvent(stored) };
        last = stored.number;
      }
      // Events can follow even a page that is not full.
      if (page.length > 0 && (final || last < known.events)) continue;
      if (final) return;
      if (!known.final && known.events <= last && !signal.aborted) await wake.promise;
      wake = Promise.withResolvers();
    }
  } finally {
    unwatch();
    signal.removeEventListener("abort", stop);
  }
}
