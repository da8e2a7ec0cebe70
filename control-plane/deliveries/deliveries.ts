import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/database/upkeep.ts";
import {
  DELIVERIES_CHANNEL,
  type Channel,
  type FailingDeliveries,
  type FailingQuery,
  type Sender,
} from "#control-plane/deliveries/delivery.ts";
import { createDeliveryMetrics } from "#control-plane/deliveries/metrics.ts";
import { createSettler } from "#control-plane/deliveries/settler.ts";
import {
  countUnfinished,
  deleteEnded,
  countFailing,
  deleteEvents,
  listDeliveries,
  type DeliveryCount,
} from "#control-plane/deliveries/upkeep/store.ts";
import { startWorker, type DeliveryWorker } from "#control-plane/deliveries/worker.ts";

/** The delivery queue of one replica. */
export interface Deliveries {
  /** Counts the deliveries that have not ended, by channel and status. */
  count(): Promise<readonly DeliveryCount[]>;
  /** Counts the deliveries of a channel that keep failing, over all accounts. */
  countFailing(on: Queryable, query: FailingQuery): Promise<FailingDeliveries>;
  /** Returns the account's deliveries for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Lets attempts finish for `graceMs`, then aborts the others, which another replica repeats. */
  stop(graceMs: number): Promise<void>;
}

/** Dependencies of the queue. */
interface DeliveriesDeps {
  readonly sql: Sql;
  readonly notifications: Notifications;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  /** Senders of this replica. Deliveries of a channel without a sender wait for a replica that has one. */
  readonly senders: readonly Sender[];
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
  const { sql, notifications, clock, log, registry, senders, retentionMs } = deps;
  const metrics = createDeliveryMetrics(registry, { count: () => countUnfinished(sql), now: () => clock.now() });
  const settler = createSettler({ sql, log });
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
    onError: (error) => log.debug({ err: error }, "deliveries: housekeeping failed; it runs again later"),
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
    export: (queryable, accountId) => listDeliveries(queryable, accountId, MOST_EXPORTED),
    stop: (graceMs) => (stopping ??= stop(graceMs)),
  };
}

/** Deletes what is older than the retention. Rejects while the database is away. */
export async function sweep(sql: Sql, now: Date, retentionMs: number): Promise<void> {
  const before = new Date(now.getTime() - retentionMs);
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteEnded(sql, before, limit));
  await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteEvents(sql, before, limit));
}
