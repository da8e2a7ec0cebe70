import { expect, it } from "vitest";
import { isAnythingDue } from "#control-plane/app/due-store.ts";
import { createTimers } from "#control-plane/core/timers.ts";
import { createManualClock, systemClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { livedAt } from "#test/support/heartbeats/liveness.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-03-01T12:00:00.000Z");

/** Starts a control plane that rests as soon as nothing has happened for 0.1 s, and counts what ends its rests. */
async function startResting(restMs: number) {
  const own = createTimers(systemClock, { restMs, quietMs: 100 });
  let [rests, wakes, asked] = [0, 0, 0];
  own.onRest(() => (rests += 1));
  const timers = {
    ...own,
    wake() {
      wakes += 1;
      own.wake();
    },
    allowRest(isBusy: () => Promise<boolean>) {
      own.allowRest(() => {
        asked += 1;
        return isBusy();
      });
    },
  };
  const clock = createManualClock(START);
  const plane = await startControlPlane({ overrides: { clock, timers } });
  return {
    ...plane,
    clock,
    wakes: () => wakes,
    rests: () => rests,
    /** Waits until it was asked so often whether anything can become due. */
    async untilAsked(times: number): Promise<void> {
      const before = asked;
      await expect.poll(() => asked).toBeGreaterThanOrEqual(before + times);
    },
    /** Waits for a rest that begins now or later. */
    async untilRest(): Promise<void> {
      const before = rests;
      await expect.poll(() => rests).toBeGreaterThan(before);
    },
  };
}

const plane = await stopAfterAll(startResting(1_000));
const { sql } = plane.app;

/** The connections of a control plane, without the one that asks. */
async function connections({ app: { gate } }: Pick<TestControlPlane, "app">): Promise<readonly string[]> {
  return gate.run(async (on) => {
    const rows = await on<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'vantage %' and pid <> pg_backend_pid() order by 1`;
    return rows.map(({ name }) => name);
  });
}

it("a replica without anything to do rests: one connection stays besides that of questions about its health, which do not wake it", async () => {
  const resting = await startResting(60_000);
  try {
    // pg-boss closes its own after 10 s without a statement.
    await expect.poll(() => connections(resting)).toEqual(["vantage listener"]);
    const before = resting.wakes();
    for (const path of ["/healthz", "/readyz", "/readyz?verbose"]) await resting.call(path);
    expect(resting.wakes()).toBe(before);
    await resting.call("/api/v4/tools");
    await expect.poll(() => resting.wakes()).toBe(before + 2);
  } finally {
    await resting.stop();
  }
});

it("a rest is no outage, but a gap while a heartbeat is active is one", async () => {
  await plane.untilRest();
  plane.clock.advance(3_600_000);
  const key = await plane.createKey("captain");
  const body = { check_type: "heartbeat", heartbeat: { period_seconds: 30, grace_seconds: 30 } };
  const { id } = (await plane.call("/api/v4/monitors", { key, body })).body.data as { id: number };
  await expect.poll(() => livedAt(sql)).toBe(START.getTime() + 3_600_000);
  expect(await sql`select from service_outages`).toHaveLength(0);
  plane.clock.advance(60_000);
  await expect.poll(() => sql`select from service_outages`).toHaveLength(1);
  await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "DELETE" });
});

it("a replica does not rest beside another, and rests again when that has ended", async () => {
  await plane.untilRest();
  const before = plane.wakes();
  const other = await startControlPlane({ databaseUrl: plane.databaseUrl, overrides: { clock: plane.clock } });
  try {
    await expect.poll(() => plane.wakes()).toBeGreaterThan(before);
    const known = () => plane.app.metrics.registry.getSingleMetricAsString("vantage_replicas");
    await expect.poll(known).toContain("vantage_replicas 2");
    await plane.untilAsked(1);
    const rests = plane.rests();
    await plane.untilAsked(2);
    expect(plane.rests()).toBe(rests);
  } finally {
    await other.stop();
  }
  await plane.untilRest();
});

it("a lost connection of the notifications ends a rest: messages can have been lost with it", async () => {
  await plane.untilRest();
  const before = plane.wakes();
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'vantage listener'`;
  await expect.poll(() => plane.wakes()).toBeGreaterThan(before);
});

it("messages arrive unless something between the replica and the database holds them back", async () => {
  const { notifications } = plane.app;
  const send = async (channel: string, payload: string): Promise<void> => {
    await sql`select pg_notify(${channel}, ${payload})`;
  };
  expect(await notifications.arrive("one", send)).toBe(true);
  expect(await notifications.arrive("one", () => Promise.resolve())).toBe(false);
});

const MONITOR = (isActive: boolean) => `
  insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at, updated_at)
  select min(id), 'a', 'https://a.example', 'http', 1, ${isActive}, '{}', '{}', now(), now() from accounts`;
const DELIVERY = (status: string) => `
  with event as (
    insert into events (id, account_id, type, body, is_flapping, created_at)
    select 'evt_1', min(id), 'monitor.down', '{}', false, now() from accounts returning *
  )
  insert into deliveries (account_id, event_id, channel, receiver_id, status, created_at)
  select account_id, id, 'webhook', 1, '${status}', now() from event`;
const MAIL = (seconds: number, sealed = "'x'") => `
  insert into requested_mails (purpose, recipient, sealed, requested_at, due_at)
  values ('reset', sha256('a'), ${sealed}, now(), timestamp with time zone '2026-03-01 12:00Z' + interval '${seconds} s')`;

it.each([
  ["an active monitor", MONITOR(true), true],
  ["a paused monitor", MONITOR(false), false],
  ["a delivery that was not sent", DELIVERY("pending"), true],
  ["a delivery that is sent again", DELIVERY("retrying"), true],
  ["a delivery that has arrived", DELIVERY("delivered"), false],
  ["a mail that is due within a minute", MAIL(59), true],
  ["a mail that is due later", MAIL(61), false],
  ["a mail that was sent", MAIL(1, "null"), false],
  ["a job that waits", "insert into pgboss.job (name) values ('batch')", true],
  ["a job that was done", "insert into pgboss.job (name, state) values ('batch', 'completed')", false],
])("%s: whether it keeps a replica from resting", async (_what, statement, isDue) => {
  await plane.createKey("captain");
  const seen = Promise.withResolvers<boolean>();
  const undone = sql.begin(async (tx) => {
    await tx.unsafe(statement);
    seen.resolve(await isAnythingDue(tx, new Date(START.getTime() + 60_000)));
    throw new Error("taken back");
  });
  await expect(undone).rejects.toThrow("taken back");
  expect(await seen.promise).toBe(isDue);
});
