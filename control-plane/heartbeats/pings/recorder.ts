import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { DatabaseAway, isDatabaseAway } from "#control-plane/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import { createPump } from "#control-plane/database/pump.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { HeartbeatMetrics } from "#control-plane/heartbeats/metrics.ts";
import type { Ping, PingSignal } from "#control-plane/heartbeats/ping.ts";
import { planPings, toDecoys, type PlannedPings } from "#control-plane/heartbeats/pings/plan.ts";
import { createPingQueue, type PingedToken } from "#control-plane/heartbeats/pings/queue.ts";
import { recordChanges } from "#control-plane/heartbeats/pings/record-changes.ts";
import { findHeartbeats, writePings } from "#control-plane/heartbeats/pings/store.ts";
import type { ApplyDeps } from "#control-plane/monitors/watch/apply-changes.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Records pings: many in one statement, and those that change a status in a transaction. */
export interface PingRecorder {
  /**
   * Records a ping. Resolves, once it is committed, with the time at which the next one is expected, in Unix
   * milliseconds. A ping to an unknown address does the same work and is forgotten. `signal` null: the path has no
   * meaning. `isMerged`: it can be stored as one with an equal ping that waits before it. Rejects with DatabaseAway.
   */
  record(
    token: string,
    received: { readonly signal: PingSignal | null; readonly ping: Ping },
    options: { readonly isMerged: boolean },
  ): Promise<number>;
  /** Number of requests that wait for their ping to be recorded. */
  waiting(): number;
  /** Resolves when every ping that was added is recorded or refused. Further ones are refused: others can take them. */
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

/** Maximum number of addresses in one statement. */
const MOST_AT_ONCE = 500;
/** The same for a transaction that changes statuses. */
const MOST_CHANGES = 200;
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
  /** Addresses whose pings change a status. */
  const changing: PlannedPings[] = [];

  const pump = createPump(async () => {
    const batch = queue.take(MOST_AT_ONCE);
    if (batch.length > 0) await flush(batch).catch((error: unknown) => retry(batch, error));
    if (queue.hasWaiting()) pump.wake();
    else finishWaiting();
  });

  const changePump = createPump(async () => {
    const batch = changing.splice(0, MOST_CHANGES);
    if (batch.length > 0) {
      await flushChanges(batch).catch((error: unknown) =>
        retry(
          batch.map(({ pinged }) => pinged),
          error,
        ),
      );
    }
    if (changing.length > 0) changePump.wake();
    pump.wake();
  });

  async function flush(batch: readonly PingedToken[]): Promise<void> {
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
        refuse(pinged, error);
        return [];
      }
    });
    const quiet = planned.filter(({ isChange }) => !isChange);
    for (const one of planned) if (one.isChange) changing.push(one);
    if (changing.length > 0) changePump.wake();
    if (quiet.length === 0) return;
    const writes = quiet.flatMap(({ write }) => (write === null ? [] : [write]));
    const written = await database
      .run((client) => writePings(client, writes, toDecoys(quiet)))
      .catch((error: unknown) => {
        retry(
          quiet.map(({ pinged }) => pinged),
          error,
        );
        return null;
      });
    if (written === null) return;
    for (const one of quiet) {
      // Otherwise the heartbeat was changed since it was read: its pings are planned again.
      const isDone = one.write === null || written.has(one.write.id);
      finish(one, isDone ? one.taken : 0);
    }
  }

  async function flushChanges(batch: readonly PlannedPings[]): Promise<void> {
    const taken = await transact(sql, (tx) => recordChanges(tx, changes, batch, clock.now().getTime()));
    batch.forEach((one, index) => finish(one, taken[index] ?? 0));
  }

  function finish({ pinged, answers }: PlannedPings, count: number): void {
    queue.finish(pinged, count).forEach((recorded, index) => {
      const nextExpected = answers[index]?.nextExpected ?? 0;
      metrics.pings.inc({ kind: answers[index]?.isCounted === true ? recorded.ping.kind : "unknown" });
      for (const { resolve } of recorded.waiters) resolve(nextExpected);
    });
  }

  /** A broken row must not keep the pings to other addresses from being recorded. */
  function refuse(pinged: PingedToken, error: unknown): void {
    log.error({ err: error }, "heartbeats: the pings to one address cannot be planned; they are refused");
    for (const { waiters } of queue.finish(pinged, pinged.taken.length)) {
      for (const { reject } of waiters) reject(new Error("a ping cannot be planned", { cause: error }));
    }
  }

  /** Nothing is known about the batch: what was committed is recorded again, the rest for the first time. */
  function retry(batch: readonly PingedToken[], error: unknown): void {
    if (isDatabaseAway(error)) log.debug({ err: error }, "heartbeats: pings could not be recorded; retried in 0.1 s");
    else log.error({ err: error }, "heartbeats: pings could not be recorded; retried in 0.1 s");
    setTimeout(() => {
      for (const pinged of batch) queue.finish(pinged, 0);
      const before = clock.monotonic() - LONGEST_WAIT_MS;
      for (const { reject } of queue.dropBefore(before)) {
        reject(new DatabaseAway("the ping could not be recorded", { cause: error }));
      }
      pump.wake();
    }, RETRY_MS);
  }

  function finishWaiting(): void {
    if (queue.size() === 0) for (const done of closed.splice(0)) done();
  }

  return {
    record: (token, received, { isMerged }) =>
      new Promise((resolve, reject) => {
        if (isClosing) return reject(new DatabaseAway("this replica stops"));
        if (queue.size() >= MOST_WAITING) return reject(new DatabaseAway("too many pings wait to be recorded"));
        const since = clock.monotonic();
        queue.add(token, { ...received, waiter: { since, resolve, reject } }, isMerged);
        pump.wake();
      }),
    waiting: () => queue.size(),
    close: () =>
      new Promise((resolve) => {
        isClosing = true;
        closed.push(resolve);
        pump.wake();
      }),
  };
}
