import type { Registry } from "prom-client";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import {
  DELIVERIES_CHANNEL,
  type Channel,
  type ClaimedDelivery,
  type FailingDeliveries,
  type FailingQuery,
  type Sender,
} from "#control-plane/notify/deliveries/delivery.ts";
import { insertClaimed } from "#control-plane/notify/deliveries/claims-store.ts";
import { createDeliveryLog, type DeliveryLog } from "#control-plane/notify/deliveries/log/log.ts";
import { createDeliveryMetrics } from "#control-plane/notify/deliveries/metrics.ts";
import type { NoteMailed } from "#control-plane/notify/deliveries/notes.ts";
import { readResults, type DeliveryResult } from "#control-plane/notify/deliveries/store.ts";
import { createSettler } from "#control-plane/notify/deliveries/settler.ts";
import {
  countUnfinished,
  deleteAttempts,
  deleteEnded,
  countFailing,
  deleteEvents,
  forgetStrangers,
  listDeliveries,
  type DeliveryCount,
} from "#control-plane/notify/deliveries/upkeep-store.ts";
import { startWorker, type DeliveryWorker } from "#control-plane/notify/deliveries/worker.ts";
import { DAY_MS, type DayTable } from "#control-plane/core/database/partitions/days.ts";

/** The table of attempts, one partition a day. */
/** The table of attempts, whose old days are dropped. */
export const ATTEMPTS: DayTable = { name: "delivery_attempts", column: "started_at", lock: 4_417_093_820_553 };

/** Least age at which a day is dropped, milliseconds: longer than any delivery is repeated, whose attempts stay with it. */
const LEAST_KEPT_MS = 7 * DAY_MS;

/**
 * Returns the age at which a day of attempts is dropped, given the retention of ended deliveries, in milliseconds. Attempts
 * are deleted with their delivery; the drop gives their space back, and removes what has no delivery any more.
 */
function attemptsKept(retentionMs: number): number {
  return Math.max(retentionMs, LEAST_KEPT_MS);
}

/** The delivery queue of one replica. */
export interface Deliveries {
  /** Counts the deliveries that have not ended, by channel and status. */
  count(): Promise<readonly DeliveryCount[]>;
  /** Counts the mails that keep failing, over all accounts. */
  countFailing(on: Queryable, query: FailingQuery): Promise<FailingDeliveries>;
  /** Returns the account's deliveries for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Deletes the attempts of an account that is erased; its deliveries go with its row. */
  accountErased(sql: Queryable, accountId: number): Promise<void>;
  /** Log of the deliveries of webhooks. */
  readonly log: DeliveryLog;
  /**
   * Inserts a delivery of an event, of which the caller makes the only attempt, in the transaction that stores the event.
   * If it never calls `attempt`, the attempt counts as lost.
   */
  claimNew(tx: Transaction, delivery: NewDelivery, leaseMs: number): Promise<ClaimedDelivery>;
  /** Returns how far deliveries of an account have got. Those that are gone are missing. */
  results(sql: Queryable, accountId: number, ids: readonly number[]): Promise<readonly DeliveryResult[]>;
  /** Makes the attempt of a delivery that was claimed by claimNew. Resolves when its result is stored. */
  attempt(delivery: ClaimedDelivery): Promise<void>;
  /** Lets attempts finish for `graceMs`, then aborts the others, which another replica repeats. */
  stop(graceMs: number): Promise<void>;
}

/** A delivery to insert. */
type NewDelivery = Parameters<typeof insertClaimed>[1];

/** Dependencies of the queue. */
interface DeliveriesDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  readonly notifications: Notifications;
  readonly registry: Registry;
  /** Senders of this replica. Deliveries of a channel without a sender wait for a replica that has one. */
  readonly senders: readonly Sender[];
  /** Notes what became of mails about incidents. */
  readonly noteMailed: NoteMailed;
  /** How long ended deliveries are kept, milliseconds. */
  readonly retentionMs: number;
}

const UPKEEP_MS = 600_000;
const DELETED_AT_ONCE = 1_000;
const MOST_EXPORTED = 10_000;
/** Time for storing results when the process stops, milliseconds. */
const SETTLE_MS = 3_000;

/** Opens the queue of one replica and starts sending. */
export function openDeliveries(deps: DeliveriesDeps): Deliveries {
  const { sql, notifications, clock, log, timers, registry, senders, retentionMs } = deps;
  const metrics = createDeliveryMetrics(registry, { count: () => countUnfinished(sql), now: () => clock.now() });
  const settler = createSettler(deps);
  const workers = new Map<Channel, DeliveryWorker>(
    senders.map((sender) => [sender.channel, startWorker({ ...deps, settler, metrics }, sender)]),
  );
  notifications.listen(
    DELIVERIES_CHANNEL,
    (channel) => workers.get(channel as Channel)?.wake(),
    () => {
      for (const worker of workers.values()) worker.wake();
    },
  );
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    round: () => sweep(sql, clock.now(), retentionMs),
    name: "deliveries: housekeeping",
    log,
    timers,
  });
  let stopping: Promise<void> | null = null;

  async function stop(graceMs: number): Promise<void> {
    upkeep.stop();
    await Promise.all(Array.from(workers.values(), (worker) => worker.stop(graceMs)));
    await settler.stop(SETTLE_MS);
  }

  return {
    count: () => countUnfinished(sql),
    countFailing,
    log: createDeliveryLog(),
    claimNew(tx, delivery, leaseMs) {
      const now = clock.now();
      return insertClaimed(tx, delivery, { now, leaseEndsAt: new Date(now.getTime() + leaseMs) });
    },
    results: readResults,
    async attempt(delivery) {
      const worker = workers.get(delivery.channel);
      if (worker === undefined) throw new Error(`this replica has no sender for ${delivery.channel}`);
      await worker.attempt(delivery);
    },
    export: (queryable, accountId) => listDeliveries(queryable, accountId, MOST_EXPORTED),
    accountErased: deleteAttempts,
    stop: (graceMs) => (stopping ??= stop(graceMs)),
  };
}

/** Deletes what is older than the retention. Rejects while the database is away. */
export async function sweep(sql: Sql, now: Date, retentionMs: number): Promise<void> {
  const before = new Date(now.getTime() - retentionMs);
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteEnded(sql, before, limit));
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteEvents(sql, before, limit));
  await forgetStrangers(sql);
  await keepPartitions(sql, ATTEMPTS, now, attemptsKept(retentionMs));
}
