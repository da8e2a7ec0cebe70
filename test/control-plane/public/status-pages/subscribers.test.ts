import { pino } from "pino";
import { expect, it } from "vitest";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { createSubscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import { startPageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const HOUR_MS = 3_600_000;

const world = await stopAfterAll(startPageWorld());

it("an address is deleted 48 hours after it was asked, unless it is confirmed", async () => {
  const { id } = await world.createPage(await world.owner());
  const { sql } = world.app;
  const clock = createManualClock(new Date("2026-03-10T12:00:00Z"));
  const add = (email: string, hours: number, isConfirmed: boolean) => {
    const askedAt = new Date(clock.now().getTime() - hours * HOUR_MS);
    return sql`
      insert into status_page_subscribers (page_id, email, asked_at, confirmed_at)
      values (${id}, ${email}, ${askedAt}, ${isConfirmed ? askedAt : null})`;
  };
  await add("recent@example.com", 47, false);
  await add("old@example.com", 49, false);
  await add("reader@example.com", 49, true);
  const log = pino({ level: "silent" });
  const encryption = createEncryption(MASTER_KEY, systemRandom);
  const deps = {
    timers: liveTimers,
    sql,
    clock,
    random: systemRandom,
    log,
    encryption,
    baseUrl: "https://a.example",
    mailer: null,
  };
  const subscribers = createSubscribers(deps);
  await subscribers.upkeep();
  subscribers.close();
  const rows = await sql<
    { email: string }[]
  >`select email from status_page_subscribers where page_id = ${id} order by 1`;
  expect(rows.map(({ email }) => email)).toEqual(["reader@example.com", "recent@example.com"]);
});
