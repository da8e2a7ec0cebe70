import { afterAll, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { claimDeliveries, renewLeases } from "#control-plane/notify/deliveries/claims-store.ts";
import { settleAttempts } from "#control-plane/notify/deliveries/store.ts";
import {
  createPublisher,
  eventsAbout,
  openQueueDatabase,
  publish,
} from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const RECEIVERS = Array.from({ length: 40 }, (_, index) => index + 1);
const ROUNDS = 150;
const clients: Sql[] = [];

const database = await stopAfterAll(createTestDatabase());
const db = await openQueueDatabase(database.url);
// As in a large table, so that rows are visited in the order of the arguments.
const [row] = await db.sql<{ name: string }[]>`select current_database() as name`;
for (const setting of ["enable_hashjoin", "enable_mergejoin", "enable_seqscan"]) {
  await db.sql`alter database ${db.sql(row?.name ?? "")} set ${db.sql(setting)} = off`;
}
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await db.sql.end();
});

function openClient(): Sql {
  const client = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
  clients.push(client);
  return client;
}

it("leases that are renewed while their attempts are settled never deadlock", async () => {
  await publish(db.sql, createPublisher({ channel: "webhook", isBundled: false }, RECEIVERS), [
    ...eventsAbout(db.accountId, [{ monitorId: 7 }]),
  ]);
  const now = new Date();
  const { claimed } = await claimDeliveries(db.sql, {
    channel: "webhook",
    limit: RECEIVERS.length,
    perReceiver: 1,
    probes: null,
    inProgress: new Map(),
    after: 0,
    leaseEndsAt: new Date(now.getTime() + 60_000),
    now: new Date(now.getTime() + 1_000),
  });
  expect(claimed).toHaveLength(RECEIVERS.length);
  const [one, other] = [openClient(), openClient()];
  const deadlocks: unknown[] = [];
  const note = (error: unknown) => {
    if ((error as { code?: string }).code === "40P01") deadlocks.push(error);
  };
  const renew = async () => {
    for (let round = 0; round < ROUNDS; round += 1) await renewLeases(one, claimed, now).catch(note);
  };
  const outcome = { kind: "failed", code: "x", message: "x", responseCode: null } as never;
  const settled = claimed
    .map(({ id, channel, attempt }) => ({
      id,
      channel,
      attempt,
      startedAt: now,
      endedAt: now,
      durationMs: 1,
      outcome,
      receiver: null,
      next: { status: "retrying", nextAttemptAt: now } as const,
    }))
    .toReversed();
  const settle = async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      // Rolled back, so that the leases can be renewed again.
      await transact(other, async (tx) => {
        await settleAttempts(tx, settled);
        throw new Error("rolled back");
      }).catch(note);
    }
  };
  await Promise.all([renew(), settle()]);
  expect(deadlocks).toEqual([]);
});
