import { describe, expect, it } from "vitest";
import { removeFromWindows } from "#control-plane/outages/maintenance/maintenance.ts";
import { areCovered, coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import type { Given } from "#control-plane/outages/maintenance/resource.ts";
import { openTestMaintenance } from "#test/control-plane/outages/maintenance/account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = "2026-03-01T10:00:00Z";
const MINUTE = 60_000;

const at = await stopAfterAll(openTestMaintenance(START));

/** A time some minutes after the test's present. */
const later = (minutes: number) => new Date(at.clock.now().getTime() + minutes * MINUTE).toISOString();
const once = (from: number, to: number, more: Given = {}): Given => ({
  title: "work",
  monitor_ids: [1],
  starts_at: later(from),
  ends_at: later(to),
  ...more,
});

/** When a monitor was or is covered, in minutes from `since`. */
async function minutesOf(accountId: number, since: Date, id = 1, tags: readonly string[] = []) {
  const to = new Date(since.getTime() + 10_000 * MINUTE);
  const covered = await coveredBetween(at.sql, accountId, [{ id, tags }], since, to);
  return (covered.get(id) ?? []).map(({ from, to: end }) => [from, end].map((ms) => (ms - since.getTime()) / MINUTE));
}

/** Moves the clock by some minutes. */
const wait = (minutes: number) => at.clock.advance(minutes * MINUTE);

describe("a window that is open once", () => {
  it("is scheduled, in progress and completed by the time", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id, ...made } = await at.create(account, once(10, 20));
    expect(made).toMatchObject({ status: "scheduled", nextStartsAt: new Date(later(10)), currentEndsAt: null });
    const covers = async (tags: readonly string[] = []) =>
      (await areCovered(at.sql, [{ accountId: account, monitorId: 1, tags, at: at.clock.now() }]))[0];
    expect(await covers()).toBe(false);
    wait(10);
    expect(await at.maintenance.find(account, id)).toMatchObject({
      status: "in_progress",
      nextStartsAt: null,
      currentEndsAt: new Date(later(10)),
    });
    expect(await covers()).toBe(true);
    wait(10);
    expect(await at.maintenance.find(account, id)).toMatchObject({ status: "completed", currentEndsAt: null });
    expect(await covers()).toBe(false);
    expect(await minutesOf(account, since)).toEqual([[10, 20]]);
  });

  it("covers nothing before it was created", async () => {
    const account = await at.account();
    const since = at.clock.now();
    wait(30);
    const { status } = await at.create(account, once(-20, 10));
    expect(status).toBe("in_progress");
    expect(await minutesOf(account, since)).toEqual([[30, 40]]);
  });

  it("in progress is extended, shortened and ended, and its past stays", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id } = await at.create(account, once(0, 60));
    wait(10);
    expect(await at.change(account, id, { ends_at: later(110) })).toMatchObject({
      status: "in_progress",
      currentEndsAt: new Date(later(110)),
    });
    expect(await minutesOf(account, since)).toEqual([[0, 120]]);
    wait(10);
    await at.change(account, id, { ends_at: later(10) });
    expect(await minutesOf(account, since)).toEqual([[0, 30]]);
    wait(5);
    expect(await at.change(account, id, { status: "cancelled" })).toMatchObject({
      status: "cancelled",
      currentEndsAt: null,
    });
    expect(await minutesOf(account, since)).toEqual([[0, 25]]);
    wait(1);
    expect(await at.change(account, id, { status: "scheduled" })).toMatchObject({ status: "in_progress" });
    expect(await minutesOf(account, since)).toEqual([
      [0, 25],
      [26, 30],
    ]);
  });

  it("in progress is moved to later: it ends now, and is open again then", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id } = await at.create(account, once(0, 60));
    wait(10);
    const moved = await at.change(account, id, { starts_at: later(30), ends_at: later(40) });
    expect(moved).toMatchObject({ status: "scheduled", nextStartsAt: new Date(later(30)) });
    expect(await minutesOf(account, since)).toEqual([
      [0, 10],
      [40, 50],
    ]);
  });

  it("that is deleted ends now, and what it has covered stays", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id } = await at.create(account, once(0, 60));
    const future = await at.create(account, once(5, 60));
    wait(2);
    expect(await at.remove(account, id)).toBe(true);
    expect(await at.remove(account, id)).toBe(false);
    expect(await at.remove(account, future.id)).toBe(true);
    expect(await at.maintenance.find(account, id)).toBeNull();
    expect(await at.maintenance.list(account, {}, { limit: 10, offset: 0 })).toEqual({ windows: [], total: 0 });
    expect(await minutesOf(account, since)).toEqual([[0, 2]]);
  });

  it("covers what it covered then, also if it covers something else now", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id } = await at.create(account, once(0, 60));
    wait(10);
    await at.change(account, id, { monitor_ids: [2], tags: ["db"] });
    wait(10);
    await at.change(account, id, { monitor_ids: [1, 2] });
    expect(await minutesOf(account, since, 1)).toEqual([
      [0, 10],
      [20, 60],
    ]);
    expect(await minutesOf(account, since, 2)).toEqual([[10, 60]]);
    expect(await minutesOf(account, since, 3, ["web", "db"])).toEqual([[10, 60]]);
    expect(await minutesOf(account, since, 3, ["web"])).toEqual([]);
  });

  it("that was changed within one millisecond has no empty past", async () => {
    const account = await at.account();
    const { id } = await at.create(account, once(0, 60));
    await at.change(account, id, { monitor_ids: [2] });
    await at.change(account, id, { monitor_ids: [3] });
    await at.change(account, id, { status: "cancelled" });
    expect(await at.covered(account)).toEqual([]);
    await at.change(account, id, { status: "scheduled" });
    expect(await at.covered(account)).toHaveLength(1);
    const scopes = await at.sql`select from maintenance_scopes where maintenance_id = ${id}`;
    expect(scopes).toHaveLength(1);
  });
});

describe("windows of an account", () => {
  it("that overlap cover their common time once", async () => {
    const account = await at.account();
    const since = at.clock.now();
    await at.create(account, once(0, 30));
    const second = await at.create(account, once(20, 50, { monitor_ids: [], tags: ["db"] }));
    await at.create(account, once(50, 60));
    expect(await minutesOf(account, since, 1, ["db"])).toEqual([[0, 60]]);
    expect(await minutesOf(account, since, 1)).toEqual([
      [0, 30],
      [50, 60],
    ]);
    wait(25);
    await at.remove(account, second.id);
    expect(await minutesOf(account, since, 1, ["db"])).toEqual([
      [0, 30],
      [50, 60],
    ]);
  });

  it("cover the monitors of that account alone", async () => {
    const [mine, other] = [await at.account(), await at.account()];
    await at.create(mine, once(0, 30));
    const covered = await areCovered(
      at.sql,
      [other, mine].map((accountId) => ({ accountId, monitorId: 1, tags: [], at: at.clock.now() })),
    );
    expect(covered).toEqual([false, true]);
  });

  it("lose a monitor that is deleted", async () => {
    const account = await at.account();
    const { id } = await at.create(account, once(0, 30, { monitor_ids: [3, 1, 2] }));
    await at.sql.begin((tx) => removeFromWindows(tx, [1, 5]));
    expect(await at.maintenance.find(account, id)).toMatchObject({ monitorIds: [3, 2] });
    await at.sql.begin((tx) => removeFromWindows(tx, [2, 3]));
    expect(await at.change(account, id, { title: "other" })).toMatchObject({ title: "other", monitorIds: [] });
  });
});

describe("a repeated window", () => {
  const daily = (more: Given = {}): Given => ({
    title: "backup",
    monitor_ids: [1],
    starts_at: START,
    duration_seconds: 3_600,
    rrule: "FREQ=DAILY",
    ...more,
  });

  it("has rows for 60 days, and knows its next start beyond them", async () => {
    const account = await at.account();
    const made = await at.create(account, daily());
    const rows = await at.covered(account);
    expect(rows.length).toBeGreaterThanOrEqual(60);
    expect(rows.length).toBeLessThanOrEqual(61);
    expect(made.status).toMatch(/scheduled|in_progress/);
    const rare = await at.create(account, daily({ rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28" }));
    expect(rare).toMatchObject({ status: "scheduled", nextStartsAt: new Date("2027-02-28T10:00:00Z") });
  });

  it("keeps its past when its rule changes, and its occurrence in progress if the new rule has it", async () => {
    const account = await at.account();
    const starts_at = later(0);
    const since = at.clock.now();
    const { id } = await at.create(account, daily({ starts_at }));
    wait(10);
    await at.change(account, id, { rrule: "FREQ=WEEKLY", duration_seconds: 7_200 });
    expect((await minutesOf(account, since))[0]).toEqual([0, 120]);
    wait(10);
    await at.change(account, id, { starts_at: later(1_440) });
    expect((await minutesOf(account, since)).slice(0, 2)).toEqual([
      [0, 20],
      [1_460, 1_580],
    ]);
  });

  it("whose occurrences overlap covers the time between them", async () => {
    const account = await at.account();
    const since = at.clock.now();
    const { id } = await at.create(
      account,
      daily({ starts_at: later(0), duration_seconds: 100_000, rrule: "FREQ=DAILY;COUNT=3" }),
    );
    wait(1_441);
    await at.change(account, id, { title: "still" });
    expect(await minutesOf(account, since)).toEqual([[0, 2 * 1_440 + 100_000 / 60]]);
  });
});

it("many changes in any order never change what was covered before them", async () => {
  const account = await at.account();
  const since = at.clock.now();
  const { id } = await at.create(account, once(0, 60));
  const changes: readonly (() => Given)[] = [
    () => ({ rrule: null, ends_at: later(30) }),
    () => ({ status: "cancelled" }),
    () => ({ rrule: null, status: "scheduled", starts_at: later(-1), ends_at: later(20) }),
    () => ({ monitor_ids: [2] }),
    () => ({ rrule: "FREQ=DAILY", starts_at: later(5), ends_at: null, duration_seconds: 600 }),
    () => ({ monitor_ids: [1] }),
    () => ({ rrule: null, starts_at: later(0), ends_at: later(3) }),
    () => ({ title: "other" }),
    () => ({ rrule: null, starts_at: later(2), ends_at: later(4) }),
  ];
  for (let step = 0; step < 60; step += 1) {
    const before = await coveredBetween(
      at.sql,
      account,
      [
        { id: 1, tags: [] },
        { id: 2, tags: [] },
      ],
      since,
      at.clock.now(),
    );
    const change = changes[(step * 7) % changes.length]?.() ?? {};
    await at.change(account, id, change);
    const after = await coveredBetween(
      at.sql,
      account,
      [
        { id: 1, tags: [] },
        { id: 2, tags: [] },
      ],
      since,
      at.clock.now(),
    );
    expect(after).toEqual(before);
    wait(1 + (step % 3));
  }
});
