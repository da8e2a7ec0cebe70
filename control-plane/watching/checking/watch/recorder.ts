import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { areLate, noteLateChecks } from "#control-plane/outages/history/record.ts";
import { releaseSlots } from "#control-plane/watching/checking/schedule/store.ts";
import { passesAfterFirstTry } from "#control-plane/outages/state/votes.ts";
import type { WatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import {
  checkOf,
  planRecord,
  type Finished,
  type PlannedRecord,
} from "#control-plane/watching/checking/watch/plan-record.ts";
import { readCurrentStates, recordAll } from "#control-plane/watching/checking/watch/store.ts";
import { createReleasingMap, type ReleasingMap } from "#control-plane/core/releasing-map.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { UNRECORDABLE } from "#control-plane/watching/checking/watch/observe.ts";

/** Records finished checks: many in one statement, and those that change something each in a transaction. */
interface Recorder {
  add(finished: Finished): void;
  /** Number of observations that are not yet recorded. */
  waiting(): number;
  /** Resolves when everything that was added is recorded or dropped. */
  settle(): Promise<void>;
}

/**
 * Commits one observation with the events that follow from it. Returns the JSON of the state that was written; null if
 * the claim or the state is stale.
 */
export type RecordWithEvents = (planned: PlannedRecord) => Promise<string | null>;

/** Dependencies of the recorder. */
interface RecorderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly metrics: WatchMetrics;
  readonly log: Logger;
  readonly recordWithEvents: RecordWithEvents;
}

/** Maximum number of observations in one statement. */
const MOST_AT_ONCE = 500;
/**
 * Time in which observations gather before they are recorded, in milliseconds. A statement, its commit and the wait for
 * the disk cost the same for one observation and for a hundred.
 */
const GATHER_MS = 50;
/** Maximum number of transactions at the same time. */
const TRANSACTIONS = 4;
/** Pause after a failed statement, in milliseconds. */
const RETRY_MS = 250;

/** Creates the recorder of one replica. Observations of one monitor are recorded one after the other. */
export function createRecorder({ sql, clock, metrics, log, recordWithEvents }: RecorderDeps): Recorder {
  const waiting = createReleasingMap<number, Finished[]>();
  const settled: (() => void)[] = [];
  let count = 0;
  let gathering: NodeJS.Timeout | null = null;

  const pump = createPump(async () => {
    if (gathering !== null) clearTimeout(gathering);
    gathering = null;
    const batch = takeFirsts(waiting, MOST_AT_ONCE);
    try {
      await recordBatch(batch);
    } catch (error) {
      await recover(batch, error);
    }
    if (count === 0) for (const done of settled.splice(0)) done();
    // A monitor's next observation has gathered already.
    if (batch.some(({ slot }) => waiting.has(slot.monitorId))) pump.wake();
    else if (waiting.size > 0) gather();
  });

  /** Records soon: at once if there is enough for a statement, or if nothing more is to be expected. */
  function gather(): void {
    if (count >= MOST_AT_ONCE || settled.length > 0) pump.wake();
    else gathering ??= setTimeout(() => pump.wake(), GATHER_MS);
  }

  /** Nothing is known about a batch after an error: what was recorded has lost its claim, the rest is recorded again. */
  async function recover(batch: readonly Finished[], error: unknown): Promise<void> {
    try {
      if (isPassing(error)) throw error;
      await refresh(batch);
      const isWaiting = (finished: Finished) => listOf(finished).includes(finished);
      await recordApart({ log, isWaiting, record: (finished) => recordBatch([finished]), drop }, batch);
    } catch (passing) {
      log.debug({ err: passing }, "monitors: observations could not be recorded; they are tried again");
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      await refresh(batch).catch(() => {});
    }
  }

  async function recordBatch(batch: readonly Finished[]): Promise<void> {
    const planned = batch.map((finished) => planRecord(finished, clock.now().getTime()));
    const quiet = planned.filter(({ isQuiet }) => isQuiet);
    const stale: Finished[] = [];
    if (quiet.length > 0) {
      const recorded = await recordQuiet(quiet);
      for (const [index, one] of quiet.entries()) {
        if (recorded.has(index)) finish(one, one.record.state);
        else stale.push(one.finished);
      }
    }
    const loud = planned.filter(({ isQuiet }) => !isQuiet);
    const record = async (): Promise<void> => {
      for (let one = loud.pop(); one !== undefined; one = loud.pop()) {
        const state = await recordWithEvents(one);
        if (state === null) stale.push(one.finished);
        else finish(one, state);
      }
    };
    // After an error the others are awaited: none may still run while the rest of the batch is recorded again.
    const ended = await Promise.allSettled(Array.from({ length: TRANSACTIONS }, record));
    for (const one of ended) if (one.status === "rejected") throw one.reason;
    if (stale.length > 0) await refresh(stale);
  }

  async function recordQuiet(quiet: readonly PlannedRecord[]): Promise<ReadonlySet<number>> {
    const records = quiet.map(({ record }) => record);
    const checks = quiet.map(checkOf);
    const now = clock.now();
    if (!areLate(checks, now)) return recordAll(sql, records);
    return transact(sql, async (tx) => {
      const recorded = await recordAll(tx, records);
      // Last, because its locks come after those of states and slots.
      await noteLateChecks(tx, checks, now);
      return recorded;
    });
  }

  function finish({ finished, record, before, transition }: PlannedRecord, state: string): void {
    metrics.checks.inc({ verdict: finished.finding.verdict });
    if (passesAfterFirstTry(before, transition.state, finished.slot.location)) metrics.firstTries.inc();
    // The next observation of the monitor continues from the state that was just written.
    for (const next of remove(finished)) {
      next.state = state;
      next.stateVersion = record.stateVersion + 1;
    }
  }

  /**
   * Drops an observation that the database refuses. Its slot is claimed again an interval later: at once it would probably
   * be refused again.
   */
  async function drop(finished: Finished): Promise<void> {
    const { slot } = finished;
    remove(finished);
    metrics.dropped.inc({ reason: "unrecordable" });
    const dueAt = new Date(clock.now().getTime() + slot.intervalSeconds * 1_000);
    await releaseSlots(sql, [{ ...slot, dueAt }]);
  }

  /** Returns the waiting observations of the same monitor. */
  function listOf({ slot }: Finished): Finished[] {
    return waiting.get(slot.monitorId) ?? [];
  }

  /** Removes an observation and returns those of the same monitor that wait behind it. */
  function remove(finished: Finished): readonly Finished[] {
    const list = listOf(finished);
    const index = list.indexOf(finished);
    if (index >= 0) {
      list.splice(index, 1);
      count -= 1;
    }
    if (list.length === 0) waiting.delete(finished.slot.monitorId);
    return list;
  }

  /** Reads the present states for observations that were not recorded; drops those whose claim is lost. */
  async function refresh(batch: readonly Finished[]): Promise<void> {
    const open = batch.filter((finished) => listOf(finished).includes(finished));
    const current = await readCurrentStates(
      sql,
      open.map(({ slot }) => slot),
    );
    const bySlot = new Map(current.map((row) => [`${row.monitorId} ${row.location}`, row]));
    for (const finished of open) {
      const { monitorId, location, lease } = finished.slot;
      const row = bySlot.get(`${monitorId} ${location}`);
      if (row?.lease === lease) {
        finished.state = row.state;
        finished.stateVersion = row.stateVersion;
      } else {
        remove(finished);
        metrics.dropped.inc({ reason: "lease_lost" });
      }
    }
  }

  return {
    add(finished) {
      const { monitorId } = finished.slot;
      const list = waiting.get(monitorId);
      if (list === undefined) waiting.set(monitorId, [finished]);
      else list.push(finished);
      count += 1;
      gather();
    },
    waiting: () => count,
    settle: () =>
      new Promise((resolve) => {
        if (count === 0) return resolve();
        settled.push(resolve);
        pump.wake();
      }),
  };
}

/** Returns the first waiting observation of each monitor, in the order of arrival. */
function takeFirsts(
  waiting: Pick<ReleasingMap<number, readonly Finished[]>, "values">,
  most: number,
): readonly Finished[] {
  const firsts: Finished[] = [];
  for (const [first] of waiting.values()) {
    if (firsts.length === most) break;
    if (first !== undefined) firsts.push(first);
  }
  return firsts;
}

/** What recording one by one needs of the recorder. */
interface ApartDeps {
  readonly log: Pick<Logger, "error">;
  /** Reports whether an observation is neither recorded nor dropped yet. */
  readonly isWaiting: (finished: Finished) => boolean;
  /** Records one observation. */
  readonly record: (finished: Finished) => Promise<void>;
  /** Drops one observation and gives its slot back. */
  readonly drop: (finished: Finished) => Promise<void>;
}

/** PostgreSQL, appendix A: 40 transaction rollback (deadlock, serialization), 55P03 lock not available. */
const PASSING_CODES = /^(?:40...|55P03)$/;

/** Reports whether the same statement can succeed later: the error says nothing about what was to be recorded. */
function isPassing(error: unknown): boolean {
  if (isDatabaseAway(error)) return true;
  return error instanceof Error && "code" in error && typeof error.code === "string" && PASSING_CODES.test(error.code);
}

/**
 * Records observations one by one, after they could not be recorded together: one that the database refuses must not hold
 * back those of other accounts. Its check counts as unknown instead; if that is refused, too, it is dropped. Rejects with
 * a passing error; what is still waiting is tried again later.
 */
async function recordApart(deps: ApartDeps, batch: readonly Finished[]): Promise<void> {
  for (const finished of batch) {
    if (!deps.isWaiting(finished)) continue;
    if (await isRecorded(deps, finished, "the check counts as unknown")) continue;
    finished.finding = UNRECORDABLE;
    if (await isRecorded(deps, finished, "it is dropped")) continue;
    await deps.drop(finished);
  }
}

async function isRecorded({ log, record }: ApartDeps, finished: Finished, then: string): Promise<boolean> {
  try {
    await record(finished);
    return true;
  } catch (error) {
    if (isPassing(error)) throw error;
    const { monitorId: monitor, location } = finished.slot;
    log.error({ err: error, monitor, location }, `monitors: an observation cannot be recorded; ${then}`);
    return false;
  }
}
