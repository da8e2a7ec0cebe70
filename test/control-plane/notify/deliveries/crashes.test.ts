import { afterAll, expect, it } from "vitest";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { recoverLost } from "#control-plane/notify/deliveries/worker.ts";
import { releaseDue } from "#control-plane/notify/deliveries/release/release.ts";
import { claimDeliveries, ripenDeliveries } from "#control-plane/notify/deliveries/claims-store.ts";
import { settleAttempts } from "#control-plane/notify/deliveries/store.ts";
import { continueAfter } from "#control-plane/notify/deliveries/transition.ts";
import {
  createPublisher,
  createTestSender,
  DELIVERED,
  eventsAbout,
  FAILED,
  openQueueDatabase,
  publish,
  readDeliveries,
} from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { noteMailed } from "#control-plane/outages/incidents/mailed.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { seeded } from "#test/support/seeded.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const LEASE_MS = 15_000;
/** Long enough that no history of this test uses it up. */
const SCHEDULE = [0, ...Array.from({ length: 200 }, () => 1_000)];
const RECEIVERS = [1, 2, 3];

const database = await stopAfterAll(createTestDatabase());
const db = await openQueueDatabase(database.url);
afterAll(async () => {
  await db.sql.end();
});

/** Steps after which the process of a replica can be killed. */
const STEPS = ["release", "claim", "send", "settle"] as const;
type Step = (typeof STEPS)[number] | "never";

/** What reached the receivers in a history, and where its replicas died. */
interface History {
  /** Ids of the events by message, as often as it was sent. */
  readonly sent: Map<number, string[][]>;
  /** Messages that were accepted by the receiver in a round whose process died before it stored that. */
  readonly unstored: Map<number, number>;
}

/** Runs one round of a replica's queue, up to the step after which it is killed. */
async function runRound(
  clock: ReturnType<typeof createManualClock>,
  history: History,
  diesAfter: Step,
  fails: () => boolean,
) {
  await releaseDue(db.sql, "mail", clock.now());
  if (diesAfter === "release") return;
  const now = clock.now();
  const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
  await ripenDeliveries(db.sql, "mail", now, 1_000);
  const room = { limit: 5, perReceiver: 2, probes: null, inProgress: new Map<number, number>() } as const;
  const { claimed } = await claimDeliveries(db.sql, { channel: "mail", ...room, after: 0, leaseEndsAt, now });
  if (diesAfter === "claim") return;
  for (const delivery of claimed) {
    const isAccepted = !fails();
    if (isAccepted) record(history, delivery);
    if (diesAfter === "send") {
      if (isAccepted) history.unstored.set(delivery.id, (history.unstored.get(delivery.id) ?? 0) + 1);
      return;
    }
    const outcome = isAccepted ? DELIVERED : FAILED;
    const finished = { attempt: delivery.attempt, startedAt: now, endedAt: clock.now(), outcome };
    const next = continueAfter(finished, SCHEDULE, () => 0);
    await settleAttempts(db.sql, [
      { ...finished, id: delivery.id, channel: "mail", durationMs: 1, next, receiver: null },
    ]);
    if (diesAfter === "settle") return;
  }
}

function record({ sent }: History, { id, events }: ClaimedDelivery): void {
  sent.set(id, [...(sent.get(id) ?? []), events.map((event) => event.id)]);
}

it("wherever replicas die, every notice arrives, and twice only if its success was not stored", async () => {
  const next = seeded(23);
  const lost = createTestSender(() => DELIVERED, { channel: "mail", schedule: SCHEDULE });
  const seen = { doubles: 0, digests: 0 };
  for (let run = 0; run < 25; run += 1) {
    await db.sql`truncate events cascade`;
    const clock = createManualClock(new Date("2026-01-01T00:00:00Z"));
    const history: History = { sent: new Map(), unstored: new Map() };
    const published: string[] = [];
    for (let round = 0; round < 400; round += 1) {
      const isQuiet = round > 20;
      if (!isQuiet && next() % 2 === 0) {
        const monitors = Array.from({ length: 1 + (next() % 6) }, () => {
          return { monitorId: next() % 4, createdAt: clock.now(), isFlapping: next() % 8 === 0 };
        });
        const receivers = RECEIVERS.slice(0, 1 + (next() % RECEIVERS.length));
        const events = createPublisher({ channel: "mail", isBundled: true }, receivers);
        const ids = await publish(db.sql, events, eventsAbout(db.accountId, monitors));
        published.push(...ids.flatMap((id) => receivers.map((receiver) => `${id} ${receiver}`)));
      }
      const diesAfter = next() % 3 === 0 ? (STEPS[next() % STEPS.length] ?? "never") : "never";
      await runRound(clock, history, diesAfter, () => next() % 4 === 0);
      await recoverLost({ sql: db.sql, clock, random: systemRandom, noteMailed }, lost);
      clock.advance(isQuiet ? 60_000 : next() * 100);
      if (isQuiet && (await readDeliveries(db)).every(({ status }) => status === "delivered")) break;
    }
    const rows = await db.sql<{ id: number; message: number; notice: string }[]>`
      select id, coalesce(leader_id, id) as message, event_id || ' ' || receiver_id as notice from deliveries`;
    expect(rows.map(({ notice }) => notice).toSorted()).toEqual(published.toSorted());
    expect((await readDeliveries(db)).every(({ status }) => status === "delivered")).toBe(true);
    for (const { message, notice } of rows) {
      const times = history.sent.get(message) ?? [];
      expect(times.length, notice).toBeGreaterThanOrEqual(1);
      for (const events of times) expect(events).toContain(notice.split(" ")[0]);
    }
    for (const [message, times] of history.sent) {
      expect(times.length - 1).toBeLessThanOrEqual(history.unstored.get(message) ?? 0);
      // A repeated message is the same message.
      for (const events of times) expect(events).toEqual(times[0]);
      seen.doubles += times.length - 1;
      seen.digests += (times[0]?.length ?? 0) > 1 ? 1 : 0;
    }
  }
  // The histories were not empty of what this is about.
  expect(seen.doubles).toBeGreaterThan(20);
  expect(seen.digests).toBeGreaterThan(20);
});
