import { expect, it } from "vitest";
import { pino } from "pino";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createMaintenance, type Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { areCovered, coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import type { Given } from "#control-plane/outages/maintenance/resource.ts";
import { monitorsBelow100, openTestMaintenance } from "#test/control-plane/outages/maintenance/account.ts";
import { untilEndedOrLocked } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const DAY_MS = 86_400_000;
const START = "2026-01-01T00:00:00Z";
const DAILY: Given = {
  title: "backup",
  monitor_ids: [1],
  starts_at: START,
  duration_seconds: 3_600,
  rrule: "FREQ=DAILY",
};

const at = await stopAfterAll(openTestMaintenance(START));

const countRows = async (table: "maintenance" | "maintenance_scopes" | "maintenance_occurrences") =>
  (await at.sql<{ n: number }[]>`select count(*) as n from ${at.sql(table)}`)[0]?.n ?? 0;

/** When the monitor 1 is covered in some days from now, in days from the start of the test. */
async function daysCovered(account: number, days: number): Promise<readonly number[]> {
  const now = at.clock.now();
  const to = new Date(now.getTime() + days * DAY_MS);
  const covered = await coveredBetween(at.sql, account, [{ id: 1, tags: [] }], now, to);
  return (covered.get(1) ?? []).map(({ from }) => (from - Date.parse(START)) / DAY_MS);
}

it("two replicas that plan ahead at once give every window each occurrence once", async () => {
  const account = await at.account();
  for (let made = 0; made < 40; made += 1) {
    await at.create(account, { ...DAILY, rrule: made % 2 === 0 ? "FREQ=DAILY" : "FREQ=DAILY;INTERVAL=3" });
  }
  at.clock.advance(30 * DAY_MS + 7_200_000);
  const other = createMaintenance({
    timers: liveTimers,
    sql: at.sql,
    clock: at.clock,
    log: pino({ level: "silent" }),
    monitorsOf: monitorsBelow100,
  });
  await Promise.all([at.maintenance.upkeep(), other.upkeep(), at.maintenance.upkeep(), other.upkeep()]);
  other.close();
  const counts = await at.sql<{ rrule: string; n: number }[]>`
    select rrule, count(*) as n from maintenance join maintenance_occurrences on maintenance_id = id
    where maintenance.account_id = ${account} group by id, rrule`;
  expect(counts).toHaveLength(40);
  // From day 0 to day 90, both starts at midnight included.
  for (const { rrule, n } of counts) expect([rrule, n]).toEqual([rrule, rrule === "FREQ=DAILY" ? 91 : 31]);
  expect((await daysCovered(account, 60)).length).toBe(60);
});

it("a window is planned while its rule is changed, and no occurrence of the old rule comes after the change", async () => {
  const account = await at.account();
  const windows = [];
  for (let made = 0; made < 10; made += 1) {
    windows.push(await at.create(account, { ...DAILY, starts_at: at.clock.now().toISOString() }));
  }
  at.clock.advance(5 * DAY_MS);
  await Promise.all([
    ...windows.map(({ id }) =>
      at.change(account, id, { rrule: "FREQ=DAILY;BYHOUR=12", starts_at: at.clock.now().toISOString() }),
    ),
    at.maintenance.upkeep(),
    at.maintenance.upkeep(),
  ]);
  const future = await at.sql<{ starts_at: Date }[]>`
    select distinct starts_at from maintenance_occurrences
    where account_id = ${account} and covers_from > ${at.clock.now()}`;
  expect(new Set(future.map(({ starts_at }) => starts_at.getUTCHours()))).toEqual(new Set([12]));
});

it("a window that starts in more than 60 days gets its row in time", async () => {
  const account = await at.account();
  const start = new Date(at.clock.now().getTime() + 100 * DAY_MS);
  const { id, ...made } = await at.create(account, {
    ...DAILY,
    starts_at: start.toISOString(),
    rrule: null,
    ends_at: new Date(start.getTime() + 3_600_000).toISOString(),
    duration_seconds: null,
  });
  expect(made).toMatchObject({ status: "scheduled", nextStartsAt: start });
  at.clock.advance(50 * DAY_MS);
  await at.maintenance.upkeep();
  expect(await at.covered(account)).toHaveLength(1);
  expect(await at.maintenance.find(account, id)).toMatchObject({ status: "scheduled", nextStartsAt: start });
  at.clock.advance(50 * DAY_MS);
  const monitor = { accountId: account, monitorId: 1, tags: [], at: at.clock.now() };
  expect(await areCovered(at.sql, [monitor])).toEqual([true]);
});

it("planning that was away for months catches up", async () => {
  const account = await at.account();
  const { id } = await at.create(account, {
    ...DAILY,
    starts_at: at.clock.now().toISOString(),
    rrule: "FREQ=WEEKLY;COUNT=30",
  });
  at.clock.advance(150 * DAY_MS);
  await at.maintenance.upkeep();
  expect(await at.covered(account)).toHaveLength(30);
  expect(await at.maintenance.find(account, id)).toMatchObject({ status: "scheduled" });
  at.clock.advance(60 * DAY_MS);
  expect(await at.maintenance.find(account, id)).toMatchObject({ status: "completed", nextStartsAt: null });
});

it("what was covered is kept for two years, and so is a window that is over", async () => {
  const account = await at.account();
  const over = await at.create(account, {
    ...DAILY,
    starts_at: at.clock.now().toISOString(),
    rrule: "FREQ=DAILY;COUNT=2",
  });
  const deleted = await at.create(account, { ...DAILY, starts_at: at.clock.now().toISOString() });
  const cancelled = await at.create(account, { ...DAILY, tags: ["x"] });
  const daily = await at.create(account, DAILY);
  at.clock.advance(3 * DAY_MS);
  await at.remove(account, deleted.id);
  await at.change(account, cancelled.id, { status: "cancelled" });
  at.clock.advance(725 * DAY_MS);
  await at.maintenance.upkeep();
  const found = async () => {
    const { windows } = await at.maintenance.list(account, {}, { limit: 10, offset: 0 });
    return windows.map(({ id }) => id).toSorted((a, b) => a - b);
  };
  expect(await found()).toEqual([over.id, cancelled.id, daily.id]);
  expect(await at.sql`select from maintenance where id = ${deleted.id}`).toHaveLength(1);
  at.clock.advance(40 * DAY_MS);
  await at.maintenance.upkeep();
  expect(await found()).toEqual([daily.id]);
  expect(await at.sql`select from maintenance where id = ${deleted.id}`).toHaveLength(0);
  const [oldest] = await at.sql<{ at: Date }[]>`select min(ends_at) as at from maintenance_occurrences`;
  expect(oldest?.at.getTime()).toBeGreaterThanOrEqual(at.clock.now().getTime() - 732 * DAY_MS);
});

it("an account has at most 100 windows that are scheduled or in progress, however many are created at once", async () => {
  const account = await at.account();
  const start = at.clock.now().toISOString();
  /** Writes in a transaction that is rolled back if the write is refused. Returns "written" or the code of the refusal. */
  const outcomeOf = async (write: (tx: Transaction) => ReturnType<Maintenance["create"]>): Promise<string> => {
    try {
      return await transact(at.sql, async (tx) => {
        const written = await write(tx);
        if (!written.ok) throw new Error(written.refusal.code);
        return "written";
      });
    } catch (error) {
      return error instanceof Error ? error.message : "";
    }
  };
  const create = () =>
    outcomeOf((tx) => at.maintenance.create(tx, account, { ...DAILY, starts_at: start, rrule: "FREQ=DAILY;COUNT=2" }));
  for (let made = 0; made < 96; made += 1) expect(await create()).toBe("written");
  const outcomes = await Promise.all(Array.from({ length: 12 }, create));
  expect(outcomes.filter((outcome) => outcome === "written")).toHaveLength(4);
  expect(outcomes.filter((outcome) => outcome === "plan_limit_exceeded")).toHaveLength(8);
  const { windows } = await at.maintenance.list(account, {}, { limit: 1, offset: 0 });
  const id = windows[0]?.id ?? 0;
  // One that is cancelled makes room for one, and cannot come back then.
  await at.change(account, id, { status: "cancelled" });
  expect(await create()).toBe("written");
  expect(await outcomeOf((tx) => at.maintenance.change(tx, account, id, { status: "scheduled" }))).toBe(
    "plan_limit_exceeded",
  );
  expect(await at.maintenance.find(account, id)).toMatchObject({ status: "cancelled" });
  // Windows that are over do not count.
  at.clock.advance(3 * DAY_MS);
  expect(await create()).toBe("missing_parameter");
  expect(await at.create(account, { ...DAILY, starts_at: at.clock.now().toISOString() })).toMatchObject({
    status: "in_progress",
  });
});

it("a window that is being created counts for one that is created at the same time", async () => {
  const account = await at.account();
  const given: Given = { ...DAILY, starts_at: at.clock.now().toISOString() };
  for (let made = 0; made < 99; made += 1) await at.create(account, given);
  const created = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const first = transact(at.sql, async (tx) => {
    const { ok } = await at.maintenance.create(tx, account, given);
    created.resolve();
    await released.promise;
    return ok;
  });
  await created.promise;
  const second = at.create(account, given).then(
    () => "written",
    (error: Error) => error.message,
  );
  // The second waits for the first; if it does not, it ends.
  await untilEndedOrLocked(at.sql, second);
  released.resolve();
  expect(await first).toBe(true);
  expect(await second).toContain("plan_limit_exceeded");
});

it("an erased account takes its windows along", async () => {
  const account = await at.account();
  await at.create(account, { ...DAILY, starts_at: at.clock.now().toISOString(), title: "mine" });
  const exported = await at.maintenance.export(at.sql, account);
  expect(exported).toMatchObject({ windows: [{ title: "mine", rrule: "FREQ=DAILY" }], covered: [] });
  const others = await Promise.all(
    (["maintenance", "maintenance_scopes", "maintenance_occurrences"] as const).map(countRows),
  );
  await at.sql`delete from accounts where id = ${account}`;
  const left = await Promise.all(
    (["maintenance", "maintenance_scopes", "maintenance_occurrences"] as const).map(countRows),
  );
  expect(left[0]).toBe((others[0] ?? 0) - 1);
  expect(left[1]).toBe((others[1] ?? 0) - 1);
  expect(await at.covered(account)).toEqual([]);
});
