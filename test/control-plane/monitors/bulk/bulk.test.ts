import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { parseBulk, type BulkChange } from "#control-plane/monitors/bulk/parse.ts";
import { countStatements } from "#test/control-plane/watching/checking/watch/changes-world.ts";
import { openIncident } from "#test/control-plane/monitors/routes/open-incident.ts";
import { BODY, startMonitorsWorld, URL } from "#test/control-plane/monitors/routes/world.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startMonitorsWorld());

const send = (body: object, as = world.key) => world.call(`${URL}?action=bulk`, { method: "PUT", key: as, body });
const create = async (body: object = BODY) => (await world.create(body)).id;
const heartbeat = { check_type: "heartbeat", name: "job" };

/** Reads a change as the route does. */
function read(body: Readonly<Record<string, unknown>>): BulkChange {
  const parsed = parseBulk(body);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.value;
}

describe("1,000 monitors", () => {
  it("are changed with as many statements as two are", async () => {
    const { accountId, key, ids } = await createWatchedAccount(world, world.app.sql, 1_000);
    const count = (some: readonly number[], set: object) =>
      transact(world.app.sql, async (tx) => {
        const wanted = read({ ids: some, set });
        const counted = countStatements(tx);
        const done = await world.monitors.changeMany(counted.tx, accountId, wanted);
        if (!done.ok) throw new Error(done.refusal.message);
        const { monitors } = done.value;
        return {
          changed: monitors.filter(({ changed }) => changed.length > 0).length,
          statements: counted.statements(),
        };
      });
    const set = { interval_minutes: 7, tags_add: ["bulk"] };
    const few = await count(ids.slice(0, 2), set);
    expect(few.changed).toBe(2);
    expect(await count(ids, set)).toEqual({ changed: 998, statements: few.statements });
    const pause = await count(ids.slice(0, 2), { is_active: false });
    expect(await count(ids, { is_active: false })).toEqual({ changed: 998, statements: pause.statements });
    const { body } = await send({ ids, set: { is_active: true, interval_minutes: 7 } }, key);
    expect(body.data).toMatchObject({ changed: 1_000, unchanged: 0 });
    const logged = await world.call("/api/v4/changes?subject=monitor", { key });
    expect(logged.body.meta).toMatchObject({ pagination: { total: 1_000 } });
  });
});

describe("beside other writes", () => {
  it("waits for a deletion, and then does not find the monitor; the other way round it is changed first", async () => {
    const { sql } = world.app;
    const ids = [await create(), await create()];
    const [one = 0, two = 0] = ids;
    const { accountId } = world;
    const waiting = await transact(sql, async (tx) => {
      expect(await world.monitors.remove(tx, { accountId, id: two })).toMatchObject({ ok: true });
      const sent = send({ ids: [one, two], set: { retries: 0 } });
      await untilLockIsAwaited(sql);
      return { sent };
    });
    expect(await waiting.sent).toMatchObject({ status: 404 });
    expect(await world.read(one)).toMatchObject({ retries: 2 });
    const wanted = read({ ids: [one], set: { retries: 0 } });
    const removal = await transact(sql, async (tx) => {
      expect(await world.monitors.changeMany(tx, accountId, wanted)).toMatchObject({ ok: true });
      const sent = world.remove(one);
      await untilLockIsAwaited(sql);
      return { sent };
    });
    expect(await removal.sent).toMatchObject({ status: 200 });
  });

  it("locks heartbeats by their ids, as their pings do", async () => {
    const { sql } = world.app;
    const ids = [await create(heartbeat), await create(heartbeat)];
    const [one = 0, two = 0] = ids;
    // It is stored behind the other one.
    await sql`update heartbeats set version = version + 1 where monitor_id = ${one}`;
    for (const set of [{ is_active: false }, { is_active: true, heartbeat: { grace_seconds: 90 } }]) {
      const { sent } = await transact(sql, async (tx) => {
        await tx`select from heartbeats where monitor_id = ${one} for update`;
        const sending = send({ ids: [two, one], set });
        await untilLockIsAwaited(sql);
        expect(await tx`select from heartbeats where monitor_id = ${two} for update nowait`).toHaveLength(1);
        return { sent: sending };
      });
      expect(await sent).toMatchObject({ status: 200 });
    }
  });

  it("locks incidents by their ids, as outages of dependent monitors do", async () => {
    const { sql } = world.app;
    const ids = [await create(), await create()];
    const [one = 0, two = 0] = ids;
    await openIncident(sql, one);
    await openIncident(sql, two);
    await sql`update incidents set title = 'moved' where monitor_id = ${one}`;
    const { sent } = await transact(sql, async (tx) => {
      await tx`select from incidents where monitor_id = ${one} for update`;
      const sending = send({ ids: [two, one], set: { is_active: false } });
      await untilLockIsAwaited(sql);
      expect(await tx`select from incidents where monitor_id = ${two} for update nowait`).toHaveLength(1);
      return { sent: sending };
    });
    expect(await sent).toMatchObject({ status: 200 });
  });
});
