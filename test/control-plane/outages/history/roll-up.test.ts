import { afterEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { sweepDeleted, CHECKS } from "#control-plane/outages/history/history.ts";
import { mergeHistograms } from "#control-plane/outages/history/histogram.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { DAY_MS, HOUR_MS } from "#control-plane/outages/history/period.ts";
import { addStatusChanges, noteLateChecks } from "#control-plane/outages/history/record.ts";
import { rollUpDays } from "#control-plane/outages/history/roll-up/days.ts";
import { rollUpHours, SETTLED_MS } from "#control-plane/outages/history/roll-up/hours.ts";
import { recomputeLate } from "#control-plane/outages/history/roll-up/late.ts";
import { deleteHours } from "#control-plane/outages/history/roll-up/retention.ts";
import { histogramOf } from "#test/control-plane/outages/history/buckets.ts";
import { createHistoryDatabase, NO_MAINTENANCE, repeat } from "#test/support/history.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const DAY = Date.parse("2026-03-28T00:00:00Z");
const MINUTE = 60_000;

const database = await stopAfterAll(createHistoryDatabase());
afterEach(() => database.clear());

async function hours() {
  return database.sql<{ at: Date; id: number; location: string; up: number; down: number; unknown: number }[]>`
    select hour as at, monitor_id as id, location, up, down, unknown from check_hours order by 1, 2, 3`;
}

async function days() {
  return database.sql<{ id: number; location: string; up: number; down: number; unknown: number }[]>`
    select monitor_id as id, location, up, down, unknown from check_days order by day, 1, 2`;
}

async function times() {
  return database.sql<{ day: Date; up: number; down: number; unknown: number; maintenance: number }[]>`
    select day, up_ms as up, down_ms as down, unknown_ms as unknown, maintenance_ms as maintenance
    from monitor_days order by day, monitor_id`;
}

/** Sets the first hour of the roll-up. */
async function start(at: number): Promise<void> {
  await rollUpHours(database.sql, new Date(at), 100);
}

describe("the roll-up by hour", () => {
  it("counts the checks of each monitor and location, without re-checks, two minutes after the hour", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([
      { monitorId: id, at: DAY },
      { monitorId: id, at: DAY + HOUR_MS - 1, status: 4 },
      { monitorId: id, at: DAY + 1, status: 2, isRecheck: true },
      { monitorId: id, at: DAY + 2, status: 2, location: "us" },
      { monitorId: id, at: DAY + 3, status: 3, location: "us" },
      { monitorId: id, at: DAY + HOUR_MS },
    ]);
    await database.rollUp(DAY + HOUR_MS + SETTLED_MS - 1);
    expect(await hours()).toEqual([]);
    await database.rollUp(DAY + HOUR_MS + SETTLED_MS);
    const at = new Date(DAY);
    expect(await hours()).toEqual([
      { at, id, location: "eu", up: 2, down: 0, unknown: 0 },
      { at, id, location: "us", up: 0, down: 1, unknown: 1 },
    ]);
  });

  it("writes the histogram that this process reads, for values of every size", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    const edges = Array.from({ length: 18 }, (_, power) => [2 ** power - 1, 2 ** power, 2 ** power + 1]).flat();
    const spread = Array.from({ length: 2_000 }, (_, index) => index * 33);
    const all = [...edges, ...spread, 2_000_000, ...Array<number>(100).fill(77), ...Array<number>(64).fill(500)];
    await database.addChecks([
      ...all.map((responseMs, index) => ({ monitorId: id, at: DAY + index, responseMs })),
      { monitorId: id, at: DAY, responseMs: null },
      { monitorId: id, at: DAY, responseMs: 3, status: 2 },
    ]);
    await database.rollUp(DAY + 2 * HOUR_MS);
    const [row] = await database.sql<{ bytes: Buffer }[]>`select response_ms as bytes from check_hours`;
    expect(mergeHistograms([row?.bytes ?? null])).toEqual(histogramOf(all));
  });

  it("begins with the oldest check and catches up after a downtime", async () => {
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([0, 5, 50].map((hour) => ({ monitorId: id, at: DAY + hour * HOUR_MS })));
    await database.rollUp(DAY + 60 * HOUR_MS);
    expect((await hours()).map(({ at }) => (at.getTime() - DAY) / HOUR_MS)).toEqual([0, 5, 50]);
  });

  it("that is killed between two parts goes on where it was, and counts nothing twice", async () => {
    await start(DAY);
    for (let index = 0; index < 10; index += 1) {
      const { id } = await database.addMonitor(DAY);
      await database.addChecks([{ monitorId: id, at: DAY + index }]);
    }
    const now = new Date(DAY + 2 * HOUR_MS);
    await rollUpHours(database.sql, now, 3);
    const part = await hours();
    expect(part).toHaveLength(3);
    // The next part is computed, but its transaction ends with the process.
    const killed = transact(database.sql, async (tx) => {
      await tx`update history_progress set next_monitor = 1000000 where name = 'hours'`;
      throw new Error("killed");
    });
    await expect(killed).rejects.toThrow("killed");
    await repeat(() => rollUpHours(database.sql, now, 3));
    expect((await hours()).map(({ up }) => up)).toEqual(Array(10).fill(1));
  });

  it("is shared by replicas that run at the same time", async () => {
    await start(DAY);
    for (let index = 0; index < 20; index += 1) {
      const { id } = await database.addMonitor(DAY);
      await database.addChecks([0, 1, 2].map((hour) => ({ monitorId: id, at: DAY + hour * HOUR_MS })));
    }
    const now = new Date(DAY + 4 * HOUR_MS);
    const replica = () => repeat(() => rollUpHours(database.sql, now, 3));
    await Promise.all([replica(), replica(), replica()]);
    await replica();
    expect((await hours()).map(({ up }) => up)).toEqual(Array(60).fill(1));
  });

  it("includes late checks that are noted, and repeats their day", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([{ monitorId: id, at: DAY + 1 }]);
    const now = new Date(DAY + DAY_MS + 10 * MINUTE);
    await database.rollUp(now.getTime());
    await database.addChecks([{ monitorId: id, at: DAY + 2, status: 2 }]);
    await transact(database.sql, (tx) => noteLateChecks(tx, [{ monitorId: id, checkedAt: new Date(DAY + 2) }], now));
    await database.rollUp(now.getTime());
    expect(await hours()).toMatchObject([{ up: 1, down: 1 }]);
    expect(await days()).toMatchObject([{ up: 1, down: 1 }]);
    expect(await database.sql`select from late_hours`).toHaveLength(0);
  });

  it("notes no check that is recorded in time", async () => {
    const now = new Date(DAY + HOUR_MS + MINUTE);
    const checks = [DAY, DAY + HOUR_MS].map((at) => ({ monitorId: 1, checkedAt: new Date(at) }));
    await transact(database.sql, (tx) => noteLateChecks(tx, checks, now));
    expect(await database.sql`select from late_hours`).toHaveLength(0);
    await transact(database.sql, (tx) => noteLateChecks(tx, checks, new Date(now.getTime() + 1)));
    expect(await database.sql`select from late_hours`).toHaveLength(1);
  });

  it("counts a late check of an hour that is not complete once", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([{ monitorId: id, at: DAY + 1 }]);
    const checks = [{ monitorId: id, checkedAt: new Date(DAY + 1) }];
    await transact(database.sql, (tx) => noteLateChecks(tx, checks, new Date(DAY + DAY_MS)));
    await database.rollUp(DAY + HOUR_MS);
    expect(await database.sql`select from late_hours`).toHaveLength(0);
    expect(await hours()).toEqual([]);
    await database.rollUp(DAY + 2 * HOUR_MS);
    expect(await hours()).toMatchObject([{ up: 1 }]);
  });

  it("includes late checks of monitors that it has computed in an hour or day in progress", async () => {
    await start(DAY);
    const monitors = [await database.addMonitor(DAY), await database.addMonitor(DAY)];
    const add = () => database.addChecks(monitors.map(({ id }) => ({ monitorId: id, at: DAY + 1 })));
    const now = new Date(DAY + DAY_MS + 10 * MINUTE);
    const checks = monitors.map(({ id }) => ({ monitorId: id, checkedAt: new Date(DAY + 1) }));
    const late = async () => {
      await add();
      await transact(database.sql, (tx) => noteLateChecks(tx, checks, now));
      await recomputeLate(database.sql, NO_MAINTENANCE, 10);
    };
    await add();
    await rollUpHours(database.sql, now, 1);
    await late();
    await repeat(() => rollUpHours(database.sql, now, 1));
    expect((await hours()).map(({ up }) => up)).toEqual([2, 2]);
    await rollUpDays(database.sql, NO_MAINTENANCE, now, 1);
    await late();
    await repeat(() => rollUpDays(database.sql, NO_MAINTENANCE, now, 1));
    expect((await days()).map(({ up }) => up)).toEqual([3, 3]);
  });

  it("starts again when the clock was an hour ahead", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([{ monitorId: id, at: DAY + 5 * MINUTE }]);
    await database.rollUp(DAY + HOUR_MS + 5 * MINUTE);
    expect(await hours()).toHaveLength(1);
    await database.addChecks([{ monitorId: id, at: DAY + 6 * MINUTE }]);
    await database.rollUp(DAY + 7 * MINUTE);
    expect(await hours()).toEqual([]);
    await database.rollUp(DAY + 2 * HOUR_MS);
    expect(await hours()).toMatchObject([{ up: 2 }]);
  });

  it("is deleted after 90 days", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([0, 1].map((hour) => ({ monitorId: id, at: DAY + hour * HOUR_MS })));
    await database.rollUp(DAY + 3 * HOUR_MS);
    await deleteHours(database.sql, new Date(DAY + 90 * DAY_MS));
    expect(await hours()).toHaveLength(2);
    await deleteHours(database.sql, new Date(DAY + 90 * DAY_MS + 1));
    expect(await hours()).toHaveLength(1);
  });
});

describe("the roll-up by day", () => {
  it("joins the hours of the day and measures the time in each status", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY + HOUR_MS);
    await database.addChecks(
      [1, 2, 23].map((hour) => ({ monitorId: id, at: DAY + hour * HOUR_MS, status: hour === 2 ? 2 : 1 })),
    );
    for (const [hour, status] of [
      [2, "up"],
      [20, "down"],
      [22, "up"],
    ] as const) {
      const at = new Date(DAY + hour * HOUR_MS);
      await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId: id, at, status }], at));
    }
    const maintenance = () => Promise.resolve(new Map([[id, [{ from: DAY + 21 * HOUR_MS, to: DAY + 2 * DAY_MS }]]]));
    await database.rollUp(DAY + DAY_MS + 10 * MINUTE, { maintenance });
    expect(await days()).toEqual([{ id, location: "eu", up: 2, down: 1, unknown: 0 }]);
    expect(await times()).toEqual([
      { day: new Date(DAY), up: 18 * HOUR_MS, down: HOUR_MS, unknown: HOUR_MS, maintenance: 3 * HOUR_MS },
    ]);
  });

  it("measures a day again after a change that was recorded too late", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    const change = (hour: number, status: "up" | "down", now: number) =>
      transact(database.sql, (tx) =>
        addStatusChanges(tx, [{ monitorId: id, at: new Date(DAY + hour * HOUR_MS), status }], new Date(now)),
      );
    await change(0, "up", DAY);
    const now = DAY + 2 * DAY_MS + 10 * MINUTE;
    await database.rollUp(now);
    expect((await times()).map(({ down }) => down)).toEqual([0, 0]);
    await change(18, "down", now);
    await database.rollUp(now);
    expect((await times()).map(({ down }) => down)).toEqual([6 * HOUR_MS, 24 * HOUR_MS]);
  });

  it("is computed once by replicas that run at the same time", async () => {
    await start(DAY);
    for (let index = 0; index < 10; index += 1) {
      const { id } = await database.addMonitor(DAY);
      await database.addChecks([{ monitorId: id, at: DAY + index }]);
    }
    await repeat(() => rollUpHours(database.sql, new Date(DAY + DAY_MS + 10 * MINUTE), 100));
    const replica = () => repeat(() => rollUpDays(database.sql, NO_MAINTENANCE, new Date(DAY + 2 * DAY_MS), 3));
    await Promise.all([replica(), replica(), replica()]);
    await replica();
    expect((await days()).map(({ up }) => up)).toEqual(Array(10).fill(1));
    expect(await times()).toHaveLength(10);
  });

  it("is deleted after two years, with changes of status that later ones replaced", async () => {
    await start(DAY);
    const { id } = await database.addMonitor(DAY);
    for (const day of [0, 1, 2]) {
      const at = new Date(DAY + day * DAY_MS);
      await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId: id, at, status: "up" }], at));
      await database.addChecks([{ monitorId: id, at: at.getTime() }]);
    }
    await database.rollUp(DAY + 3 * DAY_MS + 10 * MINUTE);
    const later = new Date(DAY + 733 * DAY_MS);
    await database.sql`update history_progress set open_from = ${later}`;
    await database.rollUp(later.getTime() + DAY_MS + 10 * MINUTE);
    expect((await times())[0]?.day).toEqual(new Date(DAY + 2 * DAY_MS));
    expect(await days()).toHaveLength(1);
    const changes = await database.sql<{ at: Date }[]>`select at from monitor_status_changes order by at`;
    expect(changes.map(({ at }) => (at.getTime() - DAY) / DAY_MS)).toEqual([1, 2]);
  });
});

describe("changes of status", () => {
  it("recorded last are last in time, also after the clock was ahead", async () => {
    const { id } = await database.addMonitor(DAY);
    for (const [minute, status] of [
      [0, "up"],
      [70, "down"],
      [12, "up"],
    ] as const) {
      const at = new Date(DAY + minute * MINUTE);
      await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId: id, at, status }], at));
    }
    const rows = await database.sql<{ at: Date; status: number }[]>`
      select at, status from monitor_status_changes order by at, id`;
    expect(rows.map(({ at, status }) => [(at.getTime() - DAY) / MINUTE, status])).toEqual([
      [0, 1],
      [12, 2],
      [12, 1],
    ]);
  });
});

describe("the history of a deleted monitor", () => {
  it("is deleted with it, and nothing else is", async () => {
    await keepPartitions(database.sql, CHECKS, new Date(DAY + DAY_MS), 90 * DAY_MS);
    await start(DAY);
    const [gone, kept] = [await database.addMonitor(DAY + HOUR_MS), await database.addMonitor(DAY)];
    for (const { id } of [gone, kept]) {
      await database.addChecks([1, 2, 30].map((hour) => ({ monitorId: id, at: DAY + hour * HOUR_MS })));
      const at = new Date(DAY + HOUR_MS);
      await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId: id, at, status: "up" }], at));
    }
    const now = DAY + DAY_MS + 8 * HOUR_MS;
    await database.rollUp(now);
    await database.sql`delete from monitors where id = ${gone.id}`;
    await repeat(() => sweepDeleted(database.sql, new Date(now), 90 * DAY_MS, 10));
    for (const table of ["checks", "check_hours", "check_days", "monitor_days", "monitor_status_changes"]) {
      const rows = await database.sql<{ id: number }[]>`select distinct monitor_id as id from ${database.sql(table)}`;
      expect(rows, table).toEqual([{ id: kept.id }]);
    }
    expect(await database.sql`select from deleted_monitors`).toHaveLength(0);
    expect(await database.sql`select from checks`).toHaveLength(3);
  });

  it("goes with its account", async () => {
    const { id } = await database.addMonitor(DAY);
    const [other] = await database.sql<{ id: number }[]>`
      insert into accounts (plan, created_at, updated_at) values ('pro', now(), now()) returning id`;
    await database.sql`update monitors set account_id = ${other?.id ?? 0}`;
    await database.sql`delete from accounts where id = ${other?.id ?? 0}`;
    expect(await database.sql`select monitor_id as id from deleted_monitors`).toEqual([{ id }]);
  });
});
