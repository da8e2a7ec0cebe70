import { pino } from "pino";
import { Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { connect, connectListener, type Sql } from "#control-plane/core/database/connect.ts";
import { createNotifications } from "#control-plane/core/database/notifications.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { openDeliveries, type Deliveries } from "#control-plane/notify/deliveries/deliveries.ts";
import type { Channel, ClaimedDelivery, Outcome, Sender } from "#control-plane/notify/deliveries/delivery.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import { createEvents, type Events } from "#control-plane/notify/events/events.ts";
import { noteMailed } from "#control-plane/outages/incidents/mailed.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { endClient } from "#test/support/end-client.ts";
import { liveTimers } from "#test/support/timers.ts";

/** A connection to the database of a test, and an account in it. */
export interface QueueDatabase {
  readonly sql: Sql;
  readonly accountId: number;
}

/** Connects and creates an account. */
export async function openQueueDatabase(url: string): Promise<QueueDatabase> {
  const sql = connect(url, { name: "test", connections: 10, statementTimeoutMs: 30_000 });
  const [row] = await sql<{ id: number }[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values ('owner-' || gen_random_uuid() || '@example.com', 'pro', now(), now()) returning id`;
  return { sql, accountId: row?.id ?? 0 };
}

/** A sender of tests: what it was given, in the order of its calls. */
export interface TestSender extends Sender {
  readonly calls: ClaimedDelivery[];
}

/** What a sender of tests does with a delivery. */
type Answer = (delivery: ClaimedDelivery, signal: AbortSignal) => Outcome | Promise<Outcome>;

/** An outcome of tests. */
export const DELIVERED: Outcome = { kind: "delivered", responseCode: 200 };
/** An outcome of tests. */
export const FAILED = { kind: "retry", responseCode: 503, code: "busy", message: "Busy." } as const;

/** Creates a sender whose outcomes are those of `answer`. */
export function createTestSender(answer: Answer, more: Partial<Sender> = {}): TestSender {
  const calls: ClaimedDelivery[] = [];
  return {
    channel: "webhook",
    schedule: [0, 50, 50],
    timeoutMs: 240_000,
    concurrency: 20,
    perReceiver: 2,
    probes: null,
    calls,
    async send(delivery, signal) {
      calls.push(delivery);
      return answer(delivery, signal);
    },
    ...more,
  };
}

/** Options of a replica's queue. */
interface QueueOptions {
  readonly clock?: Clock;
  readonly registry?: Registry;
}

/** Opens the queue of one replica. */
export function openQueue(
  url: string,
  sql: Sql,
  senders: readonly Sender[],
  { clock = systemClock, registry = new Registry() }: QueueOptions = {},
): Deliveries {
  const listener = connectListener(url, "test listener");
  const deliveries = openDeliveries({
    timers: liveTimers,
    sql,
    notifications: createNotifications(listener, liveTimers),
    clock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    registry,
    senders,
    noteMailed,
    retentionMs: 86_400_000,
  });
  return {
    ...deliveries,
    async stop(graceMs) {
      await deliveries.stop(graceMs);
      await endClient(listener);
    },
  };
}

/** Events about monitors with these facts, one after the other. */
export function eventsAbout(
  accountId: number,
  monitors: readonly (Partial<NewEvent> & { readonly monitorId: number })[],
): readonly NewEvent[] {
  return monitors.map((facts) => ({
    accountId,
    type: "monitor.down",
    createdAt: new Date(),
    data: {
      monitor: { id: facts.monitorId, name: `m${facts.monitorId}`, url: "https://a.example/", check_type: "http" },
    },
    incidentId: null,
    isFlapping: false,
    ...facts,
  }));
}

/** Creates events that go to these receivers. */
export function createPublisher(
  { channel, isBundled }: { readonly channel: Channel; readonly isBundled: boolean },
  receiverIds: readonly number[],
): Events {
  const recipient = channel === "mail" ? "a@example.com" : null;
  const find = (_tx: unknown, events: readonly NewEvent[]) =>
    Promise.resolve(events.map(() => receiverIds.map((receiverId) => ({ receiverId, recipient }))));
  return createEvents({ random: systemRandom, sources: [{ channel, isBundled, find }] });
}

/** Publishes events in one transaction. */
export function publish(sql: Sql, events: Events, published: readonly NewEvent[]): Promise<readonly string[]> {
  return transact(sql, (tx) => events.publish(tx, published));
}

/** A delivery as it is stored. */
interface DeliveryRow {
  readonly id: number;
  readonly status: string;
  readonly attempts: number;
  readonly leader_id: number | null;
  readonly error_code: string | null;
  readonly next_attempt_at: Date | null;
  readonly logged: number;
}

/** Reads the deliveries of an account with the number of their logged attempts. */
export async function readDeliveries({ sql, accountId }: QueueDatabase): Promise<readonly DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select id, status, attempts, leader_id, error_code, next_attempt_at,
      (select count(*) from delivery_attempts as a where a.delivery_id = d.id) as logged
    from deliveries as d where account_id = ${accountId} order by id`;
}
