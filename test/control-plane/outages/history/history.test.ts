import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createHistory, type History } from "#control-plane/outages/history/history.ts";
import { DAY_MS, HOUR_MS } from "#control-plane/outages/history/period.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { rollUpDays } from "#control-plane/outages/history/roll-up/days.ts";
import { rollUpHours } from "#control-plane/outages/history/roll-up/hours.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createHistoryDatabase, NO_MAINTENANCE, repeat } from "#test/support/history.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const DAY = Date.parse("2026-03-28T00:00:00Z");
const MINUTE = 60_000;
let history: History;
let clock: ReturnType<typeof createManualClock>;

const database = await stopAfterAll(createHistoryDatabase());

/** Opens a history whose clock shows this time. */
async function open(now: number): Promise<void> {
  // The cache takes an entry of time 0 for one without time.
  clock = createManualClock(new Date(now - 1));
  clock.advance(1);
  history = createHistory({
    timers: liveTimers,
    sql: database.sql,
    clock,
    log: pino({ level: "silent" }),
    retentionMs: 90 * DAY_MS,
    maintenanceBetween: NO_MAINTENANCE,
  });
  await history.start();
}

afterEach(async () => {
  await history.stop();
  await database.clear();
});

it("the partition of the first check exists after the start", async () => {
  await open(DAY);
  await database.addChecks([{ monitorId: 1, at: DAY }]);
  expect(await database.sql`select from checks_default`).toHaveLength(0);
});

describe("a summary", () => {
  it("is empty for a monitor without checks", async () => {
    await open(DAY);
    const monitor = await database.addMonitor(DAY - HOUR_MS);
    expect((await history.summarise([monitor])).get(monitor.id)).toEqual({
      uptime: { d1: null, d7: null, d30: null, d90: null },
      responseMs: { p50: null, p95: null, p99: null },
    });
    expect(await history.summarise([])).toEqual(new Map());
  });

  it("includes the running hour: the uptime at once, response times after a minute at most", async () => {
    await open(DAY + HOUR_MS);
    const monitor = await database.addMonitor(DAY);
    const up = new Date(DAY);
    await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId: monitor.id, at: up, status: "up" }], up));
    await database.addChecks([{ monitorId: monitor.id, at: DAY + HOUR_MS - 1, responseMs: 10 }]);
    expect((await history.summarise([monitor])).get(monitor.id)?.responseMs.p50).toBe(10);

    const down = new Date(DAY + HOUR_MS);
    await transact(database.sql, (tx) =>
      addStatusChanges(tx, [{ monitorId: monitor.id, at: down, status: "down" }], down),
    );
    await database.addChecks([1, 2].map((ms) => ({ monitorId: monitor.id, at: DAY + HOUR_MS + ms, responseMs: 30 })));
    clock.advance(20 * MINUTE);
    const summary = (await history.summarise([monitor])).get(monitor.id);
    expect(summary?.uptime).toEqual({ d1: 75, d7: 75, d30: 75, d90: 75 });
    expect(summary?.responseMs.p50).toBe(30);
  });

  it("reads the checks of the running hour once a minute", async () => {
    await open(DAY + HOUR_MS);
    const monitor = await database.addMonitor(DAY);
    const p50 = async () => (await history.summarise([monitor])).get(monitor.id)?.responseMs.p50;
    expect(await p50()).toBeNull();
    await database.addChecks([{ monitorId: monitor.id, at: DAY + HOUR_MS, responseMs: 10 }]);
    clock.advance(MINUTE - 1_000);
    expect(await p50()).toBeNull();
    clock.advance(2_000);
    expect(await p50()).toBe(10);
  });
});

it("the running hour is counted from its checks, also if it was computed while the clock was ahead", async () => {
  await open(DAY + 30 * MINUTE);
  const { id } = await database.addMonitor(DAY - 60 * DAY_MS);
  await database.addChecks([{ monitorId: id, at: DAY + 20 * MINUTE }]);
  await database.rollUp(DAY + DAY_MS + HOUR_MS);
  await database.addChecks([{ monitorId: id, at: DAY + 25 * MINUTE }]);
  for (const days of [1, 30]) {
    const [point] = await history.readPoints(id, { from: DAY - days * DAY_MS, to: DAY + HOUR_MS });
    expect(point?.up, `${days} days`).toBe(2);
  }
});

describe("the newest checks", () => {
  it("have the shape of the API", async () => {
    await open(DAY + HOUR_MS);
    const fault = { stage: "connect", source: "target", reason: "refused", message: "Connection refused" };
    await database.addChecks([
      { monitorId: 1, at: DAY, status: 4, responseMs: 900 },
      { monitorId: 1, at: DAY + 1, status: 2, responseMs: null, isRecheck: true, fault: JSON.stringify(fault) },
      { monitorId: 2, at: DAY },
    ]);
    const { message: _, ...error } = fault;
    expect(await history.recentChecks({ id: 1, createdAt: new Date(DAY) }, 20)).toEqual([
      {
        id: expect.any(Number),
        checked_at: "2026-03-28T00:00:00.001Z",
        location: "eu",
        status: "down",
        response_time_ms: null,
        http_status_code: null,
        error,
      },
      expect.objectContaining({ status: "degraded", response_time_ms: 900, error: null }),
    ]);
  });

  it("have ids that differ", async () => {
    await open(DAY);
    await database.addChecks(Array.from({ length: 20 }, (_, index) => ({ monitorId: 1, at: DAY + index })));
    const ids = (await history.recentChecks({ id: 1, createdAt: new Date(DAY) }, 20)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(20);
  });

  it("are listed once, also on the day of a monitor's creation while that day is rolled up for others", async () => {
    const { id, createdAt } = await database.addMonitor(DAY + 15 * HOUR_MS);
    await database.addMonitor(DAY);
    const times = [DAY + 16 * HOUR_MS, DAY + 17 * HOUR_MS];
    await database.addChecks(times.map((at) => ({ monitorId: id, at })));
    const now = DAY + DAY_MS + HOUR_MS;
    await repeat(() => rollUpHours(database.sql, new Date(now), 100));
    expect(await rollUpDays(database.sql, NO_MAINTENANCE, new Date(now), 1)).toBe("moved");
    await open(now);
    const found = await history.recentChecks({ id, createdAt }, 20);
    expect(found.map((check) => Date.parse(check.checked_at))).toEqual(times.toReversed());
  });

  it("are found for a monitor that is checked once a day, and for one that was paused for a month", async () => {
    await open(DAY + 40 * DAY_MS);
    const daily = Array.from({ length: 30 }, (_, day) => DAY + (40 - day) * DAY_MS - HOUR_MS);
    const paused = Array.from({ length: 30 }, (_, minute) => DAY + minute * MINUTE);
    const [slow, old] = [await database.addMonitor(DAY), await database.addMonitor(DAY)];
    await database.addChecks(daily.map((at) => ({ monitorId: slow.id, at })));
    await database.addChecks(paused.map((at) => ({ monitorId: old.id, at })));
    await database.rollUp(DAY + 40 * DAY_MS);
    const newest = async (id: number) =>
      (await history.recentChecks({ id, createdAt: new Date(DAY) }, 20)).map((check) => Date.parse(check.checked_at));
    expect(await newest(slow.id)).toEqual(daily.slice(0, 20));
    expect(await newest(old.id)).toEqual(paused.toReversed().slice(0, 20));
  });
});
