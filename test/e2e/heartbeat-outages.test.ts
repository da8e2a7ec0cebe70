import { afterAll, describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { advanceAlive, livedAt } from "#test/support/heartbeats/liveness.ts";

interface Heartbeat {
  readonly id: number;
  readonly status: string;
  readonly heartbeat_url: string;
  readonly heartbeat: { readonly deadline_at: string | null };
}

const clock = createManualClock(new Date("2026-03-01T12:00:00.000Z"));

let replicas: TestControlPlane[] = [];

async function start(): Promise<void> {
  const one = () => startControlPlane({ overrides: { clock }, databaseUrl: database.url });
  replicas = [await one(), await one()];
}

async function stop(): Promise<void> {
  for (const replica of replicas.splice(0)) await replica.stop();
}

const database = await stopAfterAll(createTestDatabase());
await start();
const key = await any().createKey("captain");

afterAll(async () => {
  await stop();
});

function any(): TestControlPlane {
  const [replica] = replicas;
  if (replica === undefined) throw new Error("no replica runs");
  return replica;
}

const live = (seconds: number) => advanceAlive(any().app.sql, clock, seconds * 1_000);

const isoIn = (seconds: number) => new Date(clock.now().getTime() + seconds * 1_000).toISOString();

async function create(grace: number): Promise<Heartbeat> {
  const body = { check_type: "heartbeat", heartbeat: { period_seconds: 30, grace_seconds: grace } };
  const made = await any().call("/api/v4/monitors", { key, body });
  expect(made.status, made.text).toBe(201);
  const heartbeat: Heartbeat = made.body.data;
  expect(await ping(heartbeat)).toBe(200);
  return heartbeat;
}

async function ping({ heartbeat_url: url }: Heartbeat): Promise<number> {
  return (await any().call(new URL(url).pathname)).status;
}

async function read({ id }: Heartbeat): Promise<Heartbeat> {
  return (await any().call(`/api/v4/monitors?id=${id}`, { key })).body.data;
}

const statusOf = async (heartbeat: Heartbeat) => (await read(heartbeat)).status;

async function eventsOf({ id }: Heartbeat): Promise<readonly { readonly type: string; readonly at: string }[]> {
  const rows = await any().app.sql<{ type: string; body: string }[]>`
    select type, body from events where monitor_id = ${id} order by created_at, id`;
  return rows.map(({ type, body }) => ({ type, at: (JSON.parse(body) as { readonly created_at: string }).created_at }));
}

async function startsOf({ id }: Heartbeat): Promise<readonly string[]> {
  const { data } = (await any().call(`/api/v4/incidents?monitor_id=${id}`, { key })).body;
  return (data as { readonly started_at: string }[]).map(({ started_at: at }) => at);
}

/** A time without replicas of 50 s: they are stopped and started again, or they are frozen. */
const OUTAGES: readonly (readonly [what: string, pass: () => Promise<void>])[] = [
  [
    "are stopped",
    async () => {
      await stop();
      clock.advance(50_000);
      await start();
    },
  ],
  ["are frozen", async () => clock.advance(50_000)],
  [
    "are frozen just when they note that they live",
    async () => {
      const { sql } = any().app;
      await sql.begin(async (tx) => {
        await tx`select from service_liveness for update`;
        clock.advance(5_000);
        await untilLockIsAwaited(sql, replicas.length);
        clock.advance(45_000);
      });
    },
  ],
];

describe.each(OUTAGES)("a deadline while all replicas %s", (_what, pass) => {
  it("makes the heartbeat unknown for one more grace time, and then down once, from the new deadline on", async () => {
    await live(5);
    const silent = await create(12);
    const pinged = await create(12);
    await pass();
    for (const one of [silent, pinged]) await expect.poll(() => statusOf(one)).toBe("unknown");
    const deadline = isoIn(12);
    expect((await read(silent)).heartbeat.deadline_at).toBe(deadline);
    await live(10);
    expect(await statusOf(silent)).toBe("unknown");
    expect(await ping(pinged)).toBe(200);
    await expect.poll(() => statusOf(pinged)).toBe("up");

    await live(10);
    await expect.poll(() => statusOf(silent)).toBe("down");
    await live(5);
    expect(await eventsOf(silent)).toEqual([{ type: "monitor.down", at: deadline }]);
    expect(await startsOf(silent)).toEqual([deadline]);
    expect(await statusOf(pinged)).toBe("up");
    expect(await eventsOf(pinged)).toEqual([]);
    expect(await startsOf(pinged)).toEqual([]);
  });
});

describe("a deadline after the outage", () => {
  it("is not moved", async () => {
    await live(5);
    const made = await create(60);
    const deadline = isoIn(90);
    clock.advance(40_000);
    await expect.poll(() => livedAt(any().app.sql)).toBe(clock.now().getTime());
    await live(45);
    expect(await statusOf(made)).toBe("up");
    await live(10);
    await expect.poll(() => statusOf(made)).toBe("down");
    expect(await startsOf(made)).toEqual([deadline]);
  });
});

describe("a deadline in a gap of less than 15 s", () => {
  it("is when the heartbeat is down", async () => {
    const made = await create(1);
    const deadline = isoIn(31);
    await live(25);
    clock.advance(14_000);
    await expect.poll(() => statusOf(made)).toBe("down");
    expect(await startsOf(made)).toEqual([deadline]);
    expect(await eventsOf(made)).toEqual([{ type: "monitor.down", at: deadline }]);
  });
});
