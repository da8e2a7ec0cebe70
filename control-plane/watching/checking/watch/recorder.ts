import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import { createBatchWriter } from "#control-plane/core/database/batch-writer.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { areLate, noteLateChecks } from "#control-plane/outages/history/record.ts";
import { releaseEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { recoversFromSoftState } from "#control-plane/outages/state/votes.ts";
import type { WatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import {
  checkOf,
  planRecord,
  type Finished,
  type PlannedRecord,
} from "#control-plane/watching/checking/watch/plan-record.ts";
import { readCurrentStates, recordAll } from "#control-plane/watching/checking/watch/store.ts";
import { createReleasingMap, type ReleasingMap } from "#control-plane/core/releasing-map.ts";
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

/** Number of observations that gather no longer: there are enough for a statement. */
const MANY = 500;
/**
 * Time in which observations gather before they are recorded, in milliseconds. A statement, its commit and the wait for
 * the disk cost the same for one observation and for a hundred: with 50 ms, a check at 100 a second takes 1.45 ms of a
 * processor instead of 1.29. One that did not find the target up is recorded at once, with all that wait.
 */
const GATHER_MS = 100;
/** Maximum number of transactions at the same time. */
const TRANSACTIONS = 4;
/** Pause after a failed statement, in milliseconds. */
const RETRY_MS = 250;

/** Creates the recorder of one replica. Observations of one monitor are recorded one after the other. */
export function createRecorder({ sql, clock, metrics, log, recordWithEvents }: RecorderDeps): Recorder {
  const waiting = createReleasingMap<number, Finished[]>();
  let count = 0;
  let settling = 0;
  let gathering: NodeJS.Timeout | null = null;

  const writer = createBatchWriter<Finished>({
    take: (most) => (gathering === null || isEnough() ? takeFirsts(waiting, most) : []),
    write: recordBatch,
    refuse,
    retryMs: RETRY_MS,
    retryLine: "monitors: observations could not be recorded; they are tried again",
    log,
  });

  /** Reports whether there is enough for a statement, or nothing more is to be expected. */
  function isEnough(): boolean {
    return count >= MANY || settling > 0;
  }

  function gather(isUrgent: boolean): void {
    if (isEnough() || isUrgent) {
      if (gathering !== null) clearTimeout(gathering);
      gathering = null;
      return writer.wake();
    }
    gathering ??= setTimeout(() => {
      gathering = null;
      writer.wake();
    }, GATHER_MS);
  }

  /** What was committed before an error has lost its claim: it is stale when it is recorded again. */
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
      // Last, because its locks come after those of states and schedule entries.
      await noteLateChecks(tx, checks, now);
      return recorded;
    });
  }

  function finish({ finished, record, before, transition }: PlannedRecord, state: string): void {
    metrics.checks.inc({ verdict: finished.finding.verdict });
    if (recoversFromSoftState(before, transition.state, finished.entry.location)) metrics.softState.inc();
    // The next observation of the monitor continues from the state that was just written.
    for (const next of remove(finished)) {
      next.state = state;
      next.stateVersion = record.stateVersion + 1;
    }
  }

  /**
   * The check of an observation that the database refuses counts as unknown instead; if that is refused, too, it is
   * dropped. Its schedule entry is claimed again an interval later: at once it would probably be refused again.
   */
  async function refuse(finished: Finished, error: unknown): Promise<void> {
    const { entry, finding } = finished;
    const isUnknown = finding === UNRECORDABLE;
    const then = isUnknown ? "it is dropped" : "the check counts as unknown";
    const { monitorId: monitor, location } = entry;
    log.error({ err: error, monitor, location }, `monitors: an observation cannot be recorded; ${then}`);
    finished.finding = UNRECORDABLE;
    if (!isUnknown) return;
    remove(finished);
    metrics.dropped.inc({ reason: "unrecordable" });
    const dueAt = new Date(clock.now().getTime() + entry.intervalSeconds * 1_000);
    // Otherwise its lease ends.
    await releaseEntries(sql, [{ ...entry, dueAt }]).catch(() => {});
  }

  /** Returns the waiting observations of the same monitor. */
  function listOf({ entry }: Finished): Finished[] {
    return waiting.get(entry.monitorId) ?? [];
  }

  /** Removes an observation and returns those of the same monitor that wait behind it. */
  function remove(finished: Finished): readonly Finished[] {
    const list = listOf(finished);
    const index = list.indexOf(finished);
    if (index >= 0) {
      list.splice(index, 1);
      count -= 1;
    }
    if (list.length === 0) waiting.delete(finished.entry.monitorId);
    return list;
  }

  /** Reads the present states for observations that were not recorded; drops those whose claim is lost. */
  async function refresh(batch: readonly Finished[]): Promise<void> {
    const open = batch.filter((finished) => listOf(finished).includes(finished));
    const current = await readCurrentStates(
      sql,
      open.map(({ entry }) => entry),
    );
    const byEntry = new Map(current.map((row) => [`${row.monitorId} ${row.location}`, row]));
    for (const finished of open) {
      const { monitorId, location, lease } = finished.entry;
      const row = byEntry.get(`${monitorId} ${location}`);
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
      const { monitorId } = finished.entry;
      const list = waiting.get(monitorId);
      if (list === undefined) waiting.set(monitorId, [finished]);
      else list.push(finished);
      count += 1;
      gather(finished.finding.verdict !== "up");
    },
    waiting: () => count,
    async settle() {
      settling += 1;
      await writer.settle();
      settling -= 1;
    },
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
