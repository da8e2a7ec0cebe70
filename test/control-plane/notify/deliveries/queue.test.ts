import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Registry } from "prom-client";
import { transact } from "#control-plane/core/database/transaction.ts";
import { type Deliveries, sweep } from "#control-plane/notify/deliveries/deliveries.ts";
import type { Sender } from "#control-plane/notify/deliveries/delivery.ts";
import { claimDeliveries, ripenDeliveries } from "#control-plane/notify/deliveries/claims-store.ts";
import { settleAttempts } from "#control-plane/notify/deliveries/store.ts";
import {
  createPublisher,
  createTestSender,
  DELIVERED,
  eventsAbout,
  FAILED,
  openQueue,
  openQueueDatabase,
  publish as publishEvents,
  readDeliveries,
  type QueueDatabase,
} from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const WEBHOOKS = { channel: "webhook", isBundled: false } as const;
const HOUR = 3_600_000;
let db: QueueDatabase;
const queues: Deliveries[] = [];

const database = await stopAfterAll(createTestDatabase());
beforeEach(async () => {
  db = await openQueueDatabase(database.url);
});
afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.stop(0)));
  await db.sql`truncate accounts cascade`;
  await db.sql.end();
});

function open(senders: readonly Sender[], options?: Parameters<typeof openQueue>[3]): Deliveries {
  const queue = openQueue(database.url, db.sql, senders, options);
  queues.push(queue);
  return queue;
}
const publish = (receivers: readonly number[], ...monitors: readonly number[]) => {
  const facts = monitors.map((monitorId) => ({ monitorId }));
  return publishEvents(db.sql, createPublisher(WEBHOOKS, receivers), eventsAbout(db.accountId, facts));
};
const statuses = async () => (await readDeliveries(db)).map(({ status }) => status);

describe("the queue", () => {
  it("sends each delivery once, to each of its receivers, with the stored bytes", async () => {
    const sender = createTestSender(() => DELIVERED);
    open([sender]);
    const [id = ""] = await publish([1, 2], 7);
    await expect.poll(statuses).toEqual(["delivered", "delivered"]);
    expect(sender.calls.map(({ receiverId, attempt }) => [receiverId, attempt])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    const [stored] = await db.sql<{ body: string }[]>`select body from events where id = ${id}`;
    expect(sender.calls.map(({ events }) => events[0].body)).toEqual([stored?.body, stored?.body]);
    expect(JSON.parse(stored?.body ?? "")).toMatchObject({ id, type: "monitor.down", api_version: "4.0" });
  });

  it("repeats failed attempts by the schedule until none is left", async () => {
    const sender = createTestSender(() => FAILED);
    open([sender]);
    await publish([1], 1);
    await expect.poll(statuses).toEqual(["dead"]);
    expect(sender.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(await readDeliveries(db)).toMatchObject([{ attempts: 3, logged: 3, error_code: "busy" }]);
  });

  it("ends a delivery that the receiver refuses", async () => {
    open([createTestSender(() => ({ ...FAILED, kind: "refused" }))]);
    await publish([1], 1);
    await expect.poll(statuses).toEqual(["failed"]);
    expect(await readDeliveries(db)).toMatchObject([{ attempts: 1, next_attempt_at: null }]);
  });

  it("counts an attempt as failed if the sender throws", async () => {
    open([createTestSender(() => Promise.reject(new Error("a bug")))]);
    await publish([1], 1);
    await expect.poll(statuses).toEqual(["dead"]);
    expect(await readDeliveries(db)).toMatchObject([{ error_code: "internal_error" }]);
  });

  it("does not wait for a sender that ignores its time limit", async () => {
    open([createTestSender(() => new Promise(() => {}), { timeoutMs: 100, schedule: [0] })]);
    await publish([1], 1);
    await expect.poll(statuses).toEqual(["dead"]);
    expect(await readDeliveries(db)).toMatchObject([{ error_code: "timeout" }]);
  });

  it("sends nothing of a transaction that was rolled back", async () => {
    const sender = createTestSender(() => DELIVERED);
    open([sender]);
    const rolledBack = transact(db.sql, async (tx) => {
      await createPublisher(WEBHOOKS, [1]).publish(tx, eventsAbout(db.accountId, [{ monitorId: 1 }]));
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    await publish([1], 2);
    await expect.poll(statuses).toEqual(["delivered"]);
    expect(sender.calls).toHaveLength(1);
  });

  it("leaves deliveries without a sender to a replica that has one", async () => {
    const queue = open([]);
    await publish([1], 1);
    expect(await queue.count()).toMatchObject([{ channel: "webhook", status: "pending", deliveries: 1 }]);
    open([createTestSender(() => DELIVERED)]);
    await expect.poll(statuses).toEqual(["delivered"]);
  });
});

describe("a result that the database refuses", () => {
  it("is that of a lost attempt, and the others are stored", async () => {
    const tooLarge = { ...DELIVERED, responseCode: 1e12 };
    open([createTestSender(({ receiverId }) => (receiverId === 2 ? tooLarge : DELIVERED), { schedule: [0, HOUR] })]);
    await publish([1, 2, 3], 1);
    await expect.poll(statuses).toEqual(["delivered", "pending", "delivered"]);
    await db.sql`update deliveries set due_at = now() where is_leased`;
    await expect.poll(statuses).toEqual(["delivered", "retrying", "delivered"]);
    expect(await readDeliveries(db)).toMatchObject([{}, { error_code: "attempt_lost", attempts: 1 }, {}]);
  });
});

describe("a receiver that hangs", () => {
  it("holds up no other: its attempts in progress are few", async () => {
    const sender = createTestSender(({ receiverId }) => (receiverId === 1 ? new Promise(() => {}) : DELIVERED), {
      perReceiver: 2,
      concurrency: 10,
    });
    open([sender]);
    await publish([1], ...Array.from({ length: 100 }, (_, n) => n));
    await publish([2, 3, 4], ...Array.from({ length: 20 }, (_, n) => n));
    await expect.poll(async () => (await statuses()).filter((status) => status === "delivered").length).toBe(60);
    expect(sender.calls.filter(({ receiverId }) => receiverId === 1)).toHaveLength(2);
  });
});

describe("two replicas", () => {
  it("send each delivery once", async () => {
    const senders = [createTestSender(() => DELIVERED), createTestSender(() => DELIVERED)];
    for (const sender of senders) open([sender]);
    for (let n = 0; n < 20; n += 1) await publish([1, 2, 3, 4, 5], n, n + 1);
    await expect.poll(async () => (await statuses()).filter((status) => status === "delivered").length).toBe(200);
    const ids = senders.flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(200);
    expect(ids).toHaveLength(200);
  });

  it("settle only what they have claimed: a late result of an earlier attempt changes nothing", async () => {
    await publish([1], 1);
    const now = new Date();
    const claim = async (at: Date) => {
      await ripenDeliveries(db.sql, "webhook", at, 10);
      const { claimed } = await claimDeliveries(db.sql, {
        channel: "webhook",
        limit: 10,
        perReceiver: 10,
        probes: null,
        inProgress: new Map(),
        after: 0,
        leaseEndsAt: new Date(at.getTime() + 1_000),
        now: at,
      });
      return claimed;
    };
    const [first] = await claim(now);
    if (first === undefined) throw new Error("nothing was claimed");
    expect(await claim(now)).toEqual([]);
    // A lease that has ended is recovered before the next attempt, which follows the schedule.
    expect(await claim(new Date(now.getTime() + 2_000))).toEqual([]);
    const times = { startedAt: now, endedAt: now, durationMs: 1 };
    const lost = { id: first.id, channel: "webhook", attempt: 1, ...times, outcome: FAILED, receiver: null } as const;
    const retry = { status: "retrying", nextAttemptAt: now } as const;
    expect(await settleAttempts(db.sql, [{ ...lost, next: retry }])).toHaveLength(1);
    const [second] = await claim(new Date(now.getTime() + 1));
    expect(second?.attempt).toBe(2);
    const dead = { status: "dead", nextAttemptAt: null } as const;
    expect(await settleAttempts(db.sql, [{ ...lost, next: dead }])).toEqual([]);
    expect(await statuses()).toEqual(["retrying"]);
  });

  it("accept the late success of a lost attempt that was not repeated yet", async () => {
    await publish([1], 1);
    const now = new Date();
    const {
      claimed: [claimed],
    } = await claimDeliveries(db.sql, {
      channel: "webhook",
      limit: 1,
      perReceiver: 1,
      probes: null,
      inProgress: new Map(),
      after: 0,
      leaseEndsAt: new Date(now.getTime() - HOUR / 2),
      now,
    });
    open([createTestSender(() => DELIVERED, { schedule: [0, HOUR] })]);
    await expect.poll(statuses).toEqual(["retrying"]);
    expect(await readDeliveries(db)).toMatchObject([{ error_code: "attempt_lost", attempts: 1 }]);
    const success = {
      id: claimed?.id ?? 0,
      channel: "webhook",
      attempt: 1,
      startedAt: now,
      endedAt: now,
      durationMs: 1,
      outcome: DELIVERED,
      receiver: null,
    } as const;
    await settleAttempts(db.sql, [{ ...success, next: { status: "delivered", nextAttemptAt: null } }]);
    expect(await statuses()).toEqual(["delivered"]);
  });
});

describe("stopping", () => {
  it("waits for attempts in progress", async () => {
    const queue = open([createTestSender(() => new Promise((resolve) => setTimeout(() => resolve(DELIVERED), 300)))]);
    await publish([1], 1);
    await expect.poll(async () => (await readDeliveries(db))[0]?.attempts).toBe(1);
    await queue.stop(60_000);
    expect(await statuses()).toEqual(["delivered"]);
  });

  it("aborts what takes longer, which is tried again", async () => {
    const queue = open([
      createTestSender((_, signal) => {
        const { promise, resolve } = Promise.withResolvers<typeof FAILED>();
        signal.addEventListener("abort", () => resolve(FAILED));
        return promise;
      }),
    ]);
    await publish([1], 1);
    await expect.poll(async () => (await readDeliveries(db))[0]?.attempts).toBe(1);
    await queue.stop(100);
    expect(await statuses()).toEqual(["retrying"]);
  });
});

describe("a lease", () => {
  it("is renewed while an attempt takes longer than it", async () => {
    open([createTestSender(() => new Promise(() => {}), { timeoutMs: 600_000 })]);
    await publish([1], 1);
    const readLeases = () => db.sql<{ endsAt: Date }[]>`
      select due_at as "endsAt" from deliveries where account_id = ${db.accountId} and is_leased order by id`;
    const firstEnd = await until(async () => (await readLeases())[0]?.endsAt, "the claim of a delivery");
    const isRenewed = async () => ((await readLeases())[0]?.endsAt ?? firstEnd) > firstEnd;
    await until(isRenewed, "a renewed lease");
    // Another replica, at the end of the first lease. It takes an attempt whose lease is not renewed for lost.
    await publish([2], 1);
    await expect.poll(async () => (await readLeases()).length).toBe(2);
    await db.sql`update deliveries set due_at = ${firstEnd} where receiver_id = 2`;
    const clock = createManualClock(new Date(firstEnd.getTime() + 1));
    open([createTestSender(() => DELIVERED, { schedule: [0, HOUR] })], { clock });
    await expect
      .poll(async () => (await readDeliveries(db)).map((one) => one.error_code))
      .toEqual([null, "attempt_lost"]);
    expect(await readDeliveries(db)).toMatchObject([{ attempts: 1, status: "pending" }, { status: "retrying" }]);
  });
});

describe("what is too old", () => {
  it("is dead if no attempt was made within 48 hours", async () => {
    await publish([1], 1);
    await db.sql`
      update deliveries
      set due_at = now() - interval '48 hours 1 minute', created_at = now() - interval '48 hours 1 minute'`;
    const sender = createTestSender(() => DELIVERED);
    open([sender]);
    await expect.poll(statuses).toEqual(["dead"]);
    expect(sender.calls).toEqual([]);
    expect(await readDeliveries(db)).toMatchObject([{ error_code: "not_attempted", attempts: 0 }]);
  });

  it("is deleted after the retention, but for what has not ended and its event", async () => {
    open([createTestSender(({ receiverId }) => (receiverId === 1 ? DELIVERED : FAILED), { schedule: [0, HOUR] })]);
    await publish([1], 1);
    await publish([1, 2], 2);
    await expect.poll(statuses).toEqual(["delivered", "delivered", "retrying"]);
    const count = async () => (await db.sql<{ n: number }[]>`select count(*) as n from events`)[0]?.n;
    const ids = (await db.sql<{ id: number }[]>`select id from deliveries`).map(({ id }) => id);
    const attempts = async () =>
      (await db.sql`select from delivery_attempts where delivery_id = any(${ids}::bigint[])`).length;
    await sweep(db.sql, new Date(), HOUR);
    expect(await count()).toBe(2);
    expect(await attempts()).toBe(3);
    await sweep(db.sql, new Date(Date.now() + 2 * HOUR), HOUR);
    expect(await statuses()).toEqual(["retrying"]);
    expect(await count()).toBe(1);
    expect(await attempts()).toBe(1);
    // What is left of attempts goes with its day.
    await sweep(db.sql, new Date(Date.now() + 9 * 24 * HOUR), HOUR);
    expect(await attempts()).toBe(0);
  });
});

it("since when recipients of mail get none is noted, and forgotten with their deliveries", async () => {
  const noted = async () => {
    const rows = await db.sql<{ id: number; failures: number }[]>`
      select receiver_id as id, failures from failing_receivers where channel = 'mail' order by 1`;
    return rows.map(({ id, failures }) => [id, failures]);
  };
  const own = { ...FAILED, kind: "refused", isOwn: true } as const;
  open([
    createTestSender(({ receiverId }) => (receiverId === 1 ? FAILED : receiverId === 2 ? own : DELIVERED), {
      channel: "mail",
      notesFailures: true,
      schedule: [0, 50, HOUR],
    }),
  ]);
  const events = createPublisher({ channel: "mail", isBundled: false }, [1, 2, 3]);
  await db.sql`
    insert into failing_receivers (channel, receiver_id, failing_since, failures, next_attempt_at)
    values ('mail', 3, now(), 5, now())`;
  await publishEvents(db.sql, events, eventsAbout(db.accountId, [{ monitorId: 1 }]));
  await expect.poll(statuses).toEqual(["retrying", "failed", "delivered"]);
  await expect.poll(noted).toEqual([[1, 2]]);
  await sweep(db.sql, new Date(), HOUR);
  expect(await noted()).toEqual([[1, 2]]);
  await db.sql`delete from deliveries`;
  await sweep(db.sql, new Date(), HOUR);
  expect(await noted()).toEqual([]);
});

it("an erased account's deliveries are gone, and an attempt in progress ends quietly", async () => {
  const answered = Promise.withResolvers<typeof DELIVERED>();
  const sender = createTestSender(() => answered.promise);
  const queue = open([sender]);
  await publish([1], 1);
  await expect.poll(() => sender.calls.length).toBe(1);
  const [delivery] = await db.sql<{ id: number }[]>`select id from deliveries where account_id = ${db.accountId}`;
  await transact(db.sql, async (tx) => {
    await queue.accountErased(tx, db.accountId);
    await tx`delete from accounts where id = ${db.accountId}`;
  });
  answered.resolve(DELIVERED);
  expect(await readDeliveries(db)).toEqual([]);
  const another = await openQueueDatabase(database.url);
  const events = eventsAbout(another.accountId, [{ monitorId: 1 }]);
  await publishEvents(another.sql, createPublisher(WEBHOOKS, [1]), events);
  await expect.poll(async () => (await readDeliveries(another)).map(({ status }) => status)).toEqual(["delivered"]);
  expect(await another.sql`select from delivery_attempts where delivery_id = ${delivery?.id ?? 0}`).toHaveLength(0);
  const [{ id: other } = { id: 0 }] = await another.sql<{ id: number }[]>`
    select id from deliveries where account_id = ${another.accountId}`;
  expect(await another.sql`select from delivery_attempts where delivery_id = ${other}`).toHaveLength(1);
  await another.sql.end();
});

it("metrics count attempts and ends, and show what waits", async () => {
  const registry = new Registry();
  open([createTestSender(({ receiverId }) => (receiverId === 1 ? DELIVERED : FAILED), { schedule: [0, HOUR] })], {
    registry,
  });
  await publish([1, 2], 1);
  await expect.poll(statuses).toEqual(["delivered", "retrying"]);
  const text = await registry.metrics();
  expect(text).toContain('vantage_deliveries{channel="webhook",status="retrying"} 1');
  expect(text).toContain('vantage_deliveries{channel="mail",status="pending"} 0');
  expect(text).toContain('vantage_delivery_attempts_total{channel="webhook",result="delivered"} 1');
  expect(text).toContain('vantage_deliveries_ended_total{channel="webhook",status="delivered"} 1');
  expect(text).toMatch(/vantage_delivery_latency_seconds_count\{channel="webhook"\} 1/);
  expect(text).toMatch(/vantage_delivery_oldest_seconds\{channel="webhook",status="retrying"\} [\d.]+/);
});
