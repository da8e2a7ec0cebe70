import { afterAll, expect, it, vi } from "vitest";
import {
  createPublisher,
  createTestSender,
  DELIVERED,
  eventsAbout,
  openQueue,
  openQueueDatabase,
  publish,
  readDeliveries,
} from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(createTestDatabase());
const db = await openQueueDatabase(database.url);
afterAll(async () => {
  vi.useRealTimers();
  await db.sql.end();
});

it("what is published is sent because of its notification, without a sweep", async () => {
  // No sweep ever begins.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const queue = openQueue(database.url, db.sql, [createTestSender(() => DELIVERED)]);
  const events = createPublisher({ channel: "webhook", isBundled: false }, [1]);
  for (let sent = 1; sent <= 20; sent += 1) {
    await publish(db.sql, events, eventsAbout(db.accountId, [{ monitorId: 1 }]));
    await expect
      .poll(async () => (await readDeliveries(db)).map(({ status }) => status))
      .toEqual(Array.from({ length: sent }, () => "delivered"));
  }
  await queue.stop(0);
});
