import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import { createBatchWriter } from "#control-plane/core/database/batch-writer.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { DatabaseAway, isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { HeartbeatMetrics } from "#control-plane/watching/heartbeats/metrics.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { judgeHeartbeats } from "#control-plane/watching/heartbeats/apply-changes.ts";
import { createPingQueue, type PingedToken, type WaitingPing } from "#control-plane/watching/heartbeats/pings/queue.ts";
import { createUnjudged } from "#control-plane/watching/heartbeats/pings/unjudged.ts";
import {
  findHeartbeats,
  writePings,
  type FoundHeartbeat,
  type WrittenPings,
} from "#control-plane/watching/heartbeats/pings/store.ts";
import type { ApplyDeps } from "#control-plane/watching/checking/watch/apply-changes.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { DECOY_ROW, decoyOf, type Decoy } from "#control-plane/watching/heartbeats/decoy.ts";
import { dueAfterSuccess, nextDue } from "#control-plane/watching/heartbeats/deadline.ts";
import { foldPings, type PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import { readRecord } from "#control-plane/watching/heartbeats/rows.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { heartbeatStateSettings } from "#control-plane/watching/heartbeats/state-settings.ts";
import { isToken } from "#control-plane/watching/heartbeats/token.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";

/** Records pings, many in one statement, and makes the statuses follow them. */
export interface PingRecorder {
  /**
   * Records a ping. Resolves, once it is committed, with the time at which the next one is expected, in Unix
   * milliseconds. A ping to an unknown address does the same work and is forgotten. `isMergeable`: it can be stored as one
   * with equal and mergeable pings that wait beside it. Rejects with DatabaseAway.
   */
  record(token: string, ping: Ping, options: { readonly isMergeable: boolean }): Promise<number>;
  /**
   * Resolves when the statuses of an account's monitors follow the pings that this replica has answered; null if they do
   * now.
   */
  whenSettled(accountId: number): Promise<void> | null;
  /** Number of requests that wait for their ping to be recorded. */
  waiting(): number;
  /** When the first ping arrived that is not recorded yet, Unix milliseconds; null: all are. */
  oldestArrival(): number | null;
  /**
   * Resolves when every ping that was added is recorded or refused, and the statuses follow. Further ones are refused:
   * others can take them.
   */
  close(): Promise<void>;
}

/** Dependencies of the recorder. */
interface PingRecorderDeps {
  /** For transactions. */
  readonly sql: Sql;
  /** For statements that requests wait for. */
  readonly database: GuardedDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  readonly encryption: Pick<Encryption, "digest">;
  readonly metrics: HeartbeatMetrics;
  readonly changes: ApplyDeps;
}

/** Maximum number of monitors in one transaction that changes statuses. */
const MOST_JUDGED = 200;
/** Maximum number of requests that wait. Further ones are refused. */
const MOST_WAITING = 100_000;
/** How long a request waits for its ping to be recorded while the database is away, in milliseconds. */
const LONGEST_WAIT_MS = 10_000;
const RETRY_MS = 100;

/** Creates the recorder of one replica. The pings to one address are recorded one after the other. */
export function createPingRecorder(deps: PingRecorderDeps): PingRecorder {
  const { sql, database, clock, log, encryption, metrics, changes } = deps;
  const queue = createPingQueue();
  const closed: (() => void)[] = [];
  let isClosing = false;
  /** Monitors whose states do not follow the pings yet that were recorded. */
  const unjudged = createUnjudged();

  const writer = createBatchWriter<PingedToken>({
    take: (most) => queue.take(most),
    async write(batch) {
      try {
        await record(batch);
      } catch (error) {
        for (const { reject } of queue.dropBefore(clock.monotonic() - LONGEST_WAIT_MS)) {
          reject(new DatabaseAway("the ping could not be recorded", { cause: error }));
        }
        throw error;
      }
    },
    refuse: (pinged, error) => refuse(pinged, error),
    retryMs: RETRY_MS,
    retryLine: "heartbeats: pings could not be recorded; retried in 0.1 s",
    log,
  });

  // After the answers: they must not take longer for addresses that exist.
  const judgePump = createPump(async () => {
    const left = await judge(unjudged.take(MOST_JUDGED)).catch((error: unknown) => {
      const level = isDatabaseAway(error) ? "debug" : "error";
      log[level]({ err: error }, "heartbeats: statuses could not follow the pings; the next visits make up for it");
      return [];
    });
    unjudged.finish(left);
    if (unjudged.hasWaiting()) judgePump.wake();
    else for (const done of closed.splice(0)) done();
  });

  async function judge(ids: readonly number[]): Promise<readonly number[]> {
    return ids.length === 0 ? [] : transact(sql, (tx) => judgeHeartbeats(tx, changes, ids, clock.now().getTime()));
  }

  async function record(batch: readonly PingedToken[]): Promise<void> {
    const found = await database.run((client) =>
      findHeartbeats(
        client,
        batch.map(({ hash }) => hash),
      ),
    );
    const byIndex = new Map(found.map((row) => [row.index, row]));
    const planned = batch.flatMap((pinged, index) => {
      try {
        return planPings(encryption, pinged, byIndex.get(index) ?? null);
      } catch (error) {
        refuse(pinged, error, "planned");
        return [];
      }
    });
    const writes = planned.flatMap(({ write }) => (write === null ? [] : [write]));
    if (planned.length === 0) return;
    const written = await database.run((client) => writePings(client, writes, toDecoys(planned)));
    for (const one of planned) {
      // Otherwise the heartbeat was changed since it was read: its pings are planned again.
      if (one.write === null || written.has(one.write.id)) finish(one);
    }
    for (const { write, accountId } of planned) {
      if (write === null || accountId === null || write.record.verdicts.length === 0) continue;
      if (written.has(write.id)) unjudged.add({ monitorId: write.id, accountId });
    }
    if (unjudged.hasWaiting()) judgePump.wake();
  }

  function finish({ pinged, answers }: PlannedPings): void {
    queue.finish(pinged).forEach((recorded, index) => {
      const nextExpected = answers[index]?.nextExpected ?? 0;
      metrics.pings.inc({ kind: answers[index]?.isCounted === true ? recorded.ping.kind : "unknown" });
      for (const { resolve } of recorded.waiters) resolve(nextExpected);
    });
  }

  /** What is wrong with one address must not keep the pings to others from being recorded. */
  function refuse(pinged: PingedToken, error: unknown, what: "planned" | "recorded" = "recorded"): void {
    log.error({ err: error }, `heartbeats: the pings to one address cannot be ${what}; they are refused`);
    for (const { waiters } of queue.finish(pinged)) {
      for (const { reject } of waiters) reject(new Error(`a ping cannot be ${what}`, { cause: error }));
    }
  }

  return {
    record: (token, ping, { isMergeable }) =>
      new Promise((resolve, reject) => {
        if (isClosing) return reject(new DatabaseAway("this replica stops"));
        if (queue.size() >= MOST_WAITING) return reject(new DatabaseAway("too many pings wait to be recorded"));
        const since = clock.monotonic();
        const isAdded = queue.add(token, { ping, waiter: { since, resolve, reject } }, isMergeable);
        if (!isAdded) return reject(new DatabaseAway("too many pings to one address wait to be recorded"));
        writer.wake();
      }),
    whenSettled: (accountId) => unjudged.whenSettled(accountId),
    waiting: () => queue.size(),
    oldestArrival: () => queue.oldestArrival(),
    async close() {
      isClosing = true;
      await writer.settle();
      await new Promise<void>((resolve) => {
        closed.push(resolve);
        judgePump.wake();
      });
    },
  };
}

/** How a ping is answered. */
interface PingAnswer {
  /** Unix milliseconds. */
  readonly nextExpected: number;
  /** Whether it belongs to a heartbeat. */
  readonly isCounted: boolean;
}

/** Pings to one address, with what is written for them. */
interface PlannedPings {
  readonly pinged: PingedToken;
  /** The account of the heartbeat; null: the address is unknown. */
  readonly accountId: number | null;
  /** How each of the taken pings is answered. */
  readonly answers: readonly PingAnswer[];
  /** null: none of them counts. */
  readonly write: WrittenPings | null;
  readonly decoy: Decoy;
  /** Those that do not count, which the decoy records. */
  readonly uncounted: readonly Ping[];
}

/** Plans what is recorded of the waiting pings to one address; `found` is null if the address is unknown. */
export function planPings(
  encryption: Pick<Encryption, "digest">,
  pinged: PingedToken,
  found: FoundHeartbeat | null,
): PlannedPings {
  const decoy = decoyOf(encryption, pinged.token);
  const heartbeat = found === null || !found.isActive || !isToken(pinged.token) ? null : openFound(found);
  const counted = heartbeat === null ? [] : countedPings(pinged.taken, heartbeat.settings);
  const answers = pinged.taken.map((waiting) => answerOf(waiting, heartbeat, decoy));
  const uncounted = pinged.taken.filter((waiting) => !counted.includes(waiting)).map(({ ping }) => ping);
  const shared = { pinged, accountId: found?.accountId ?? null, answers, decoy, uncounted };
  if (heartbeat === null || found === null || counted.length === 0) {
    return { ...shared, write: null };
  }
  const { record, stored } = foldPings(
    heartbeat,
    counted.map(({ ping }) => ping),
  );
  return { ...shared, write: { id: found.monitorId, version: found.version, record, pings: stored } };
}

/** Lists the pings that count: by a method that the heartbeat accepts. */
export function countedPings(
  pings: readonly WaitingPing[],
  { methods }: Pick<HeartbeatSettings, "methods">,
): readonly WaitingPing[] {
  return pings.filter(({ ping }) => methods === "any" || ping.method === "POST");
}

function openFound(found: typeof DECOY_ROW): PingedHeartbeat | null {
  const all = readStoredSettings(found.settings);
  if (all.heartbeat === null) return null;
  return {
    record: readRecord(found),
    settings: all.heartbeat,
    stateSettings: heartbeatStateSettings(all),
    state: decodeState(found.state),
  };
}

function answerOf({ ping }: WaitingPing, heartbeat: PingedHeartbeat | null, decoy: Decoy): PingAnswer {
  const isKnown = heartbeat !== null;
  const isSuccess = ping.kind === "success" || ping.exitCode === 0;
  const due = isSuccess ? dueAfterSuccess : nextDue;
  const nextExpected = due(isKnown ? heartbeat.settings : decoy.settings, ping.receivedAt);
  return { nextExpected, isCounted: isKnown };
}

/** Returns what decoys record in place of heartbeats: the same rows, without content. */
export function toDecoys(planned: readonly PlannedPings[]): readonly WrittenPings[] {
  const byId = new Map<number, Ping[]>();
  for (const { decoy, uncounted } of planned) {
    if (uncounted.length > 0) byId.set(decoy.id, [...(byId.get(decoy.id) ?? []), ...uncounted.map(withoutContent)]);
  }
  return Array.from(byId, ([id, pings]) => {
    const heartbeat = openFound(DECOY_ROW);
    if (heartbeat === null) throw new Error("a decoy is no heartbeat");
    const { record, stored } = foldPings(heartbeat, pings);
    return { id, version: 0, record: { ...record, openRuns: [], verdicts: [] }, pings: stored };
  });
}

/** Returns a ping of the same size with nothing of what a client sent. */
function withoutContent(ping: Ping): Ping {
  const blank = (text: string | null): string | null => (text === null ? null : " ".repeat(text.length));
  return { ...ping, rid: blank(ping.rid), remoteAddr: "", userAgent: blank(ping.userAgent), body: blank(ping.body) };
}
