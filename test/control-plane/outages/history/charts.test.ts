import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { renderBars, toStrip } from "#control-plane/core/charts/bars.ts";
import { renderLatency } from "#control-plane/core/charts/latency.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createHistory } from "#control-plane/outages/history/history.ts";
import { encodeHistogram } from "#control-plane/outages/history/histogram.ts";
import { DAY_MS, HOUR_MS } from "#control-plane/outages/history/period.ts";
import type { MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { histogramOf } from "#test/control-plane/outages/history/buckets.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createHistoryDatabase, NO_MAINTENANCE, type HistoryDatabase, type TestCheck } from "#test/support/history.ts";
import { UTC } from "#test/control-plane/core/charts/zones.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const MINUTE_MS = 60_000;
const DAY = Date.parse("2026-03-28T00:00:00Z");
/** The running half hour has begun 10 minutes ago. */
const NOW = DAY + DAY_MS + 10 * MINUTE_MS;
const TIME = viewerTimeIn(UTC);

const database = await stopAfterAll(createHistoryDatabase());
afterEach(() => database.clear());

function historyAt(now: number, maintenanceBetween: MaintenanceBetween = NO_MAINTENANCE) {
  const clock = createManualClock(new Date(now));
  const log = pino({ level: "silent" });
  return createHistory({
    timers: liveTimers,
    sql: database.sql,
    clock,
    log,
    retentionMs: 90 * DAY_MS,
    maintenanceBetween,
  });
}

async function change(monitorId: number, at: number, status: "up" | "down" | "unknown"): Promise<void> {
  await transact(database.sql, (tx) => addStatusChanges(tx, [{ monitorId, at: new Date(at), status }], new Date(at)));
}

/** Checks of a monitor, one a minute from `from` to before `to`. */
function minutes(monitorId: number, from: number, to: number, check: Partial<TestCheck> = {}): readonly TestCheck[] {
  const count = (to - from) / MINUTE_MS;
  return Array.from({ length: count }, (_, index) => ({ monitorId, at: from + index * MINUTE_MS, ...check }));
}

describe("the strip of a day", () => {
  async function stripOf(monitor: Awaited<ReturnType<HistoryDatabase["addMonitor"]>>, maintenance = NO_MAINTENANCE) {
    const halfHours = (await historyAt(NOW, maintenance).halfHours([monitor])).get(monitor.id) ?? [];
    expect(halfHours).toHaveLength(48);
    return String(renderBars(toStrip("24 hours", "minute", halfHours), TIME));
  }

  const titlesOf = (svg: string) => Array.from(svg.matchAll(/<title>([^<]*)/g), ([, title]) => title);

  it("is empty before a monitor exists, and without data until its first check", async () => {
    const monitor = await database.addMonitor(DAY + 20 * HOUR_MS);
    await change(monitor.id, DAY + 21 * HOUR_MS, "up");
    expect(titlesOf(await stripOf(monitor))).toEqual([
      "28 Mar 20:00 to 28 Mar 21:00: no data",
      "28 Mar 21:00 to 29 Mar 00:10: up",
    ]);
  });

  it("shows each minute of downtime and sums it up", async () => {
    const monitor = await database.addMonitor(DAY - DAY_MS);
    await change(monitor.id, DAY - HOUR_MS, "up");
    await change(monitor.id, DAY + 10 * HOUR_MS + 20 * MINUTE_MS, "down");
    await change(monitor.id, DAY + 10 * HOUR_MS + 55 * MINUTE_MS, "up");
    const svg = await stripOf(monitor);
    expect(titlesOf(svg).slice(1, 3)).toEqual([
      "28 Mar 10:00 to 28 Mar 10:30: down 10 min",
      "28 Mar 10:30 to 28 Mar 11:00: down 25 min",
    ]);
    expect(svg).toContain("24 hours: down 35 min, degraded 0, no data 0");
  });

  it("shows maintenance in the place of what happened in it", async () => {
    const monitor = await database.addMonitor(DAY - DAY_MS);
    await change(monitor.id, DAY - HOUR_MS, "down");
    const span = { from: DAY - DAY_MS, to: DAY + DAY_MS };
    const svg = await stripOf(monitor, (_sql, _account, monitors) =>
      Promise.resolve(new Map(monitors.map(({ id }) => [id, [span]]))),
    );
    expect(titlesOf(svg)).toEqual([
      "28 Mar 00:30 to 29 Mar 00:00: maintenance",
      "29 Mar 00:00 to 29 Mar 00:10: down 10 min",
    ]);
  });

  it("shows an hour as degraded of whose checks a quarter were slow, rolled up or not", async () => {
    const monitor = await database.addMonitor(DAY - DAY_MS);
    const { id } = monitor;
    await change(id, DAY - HOUR_MS, "up");
    const slow = { status: 4 };
    await database.addChecks([
      ...minutes(id, DAY + 5 * HOUR_MS, DAY + 5 * HOUR_MS + 15 * MINUTE_MS, slow),
      ...minutes(id, DAY + 5 * HOUR_MS + 15 * MINUTE_MS, DAY + 6 * HOUR_MS),
      ...minutes(id, DAY + 8 * HOUR_MS, DAY + 8 * HOUR_MS + 14 * MINUTE_MS, slow),
      ...minutes(id, DAY + 8 * HOUR_MS + 14 * MINUTE_MS, DAY + 9 * HOUR_MS),
      // A third of one location, and less than a quarter of both.
      ...minutes(id, DAY + 11 * HOUR_MS, DAY + 11 * HOUR_MS + 20 * MINUTE_MS, slow),
      ...minutes(id, DAY + 11 * HOUR_MS + 20 * MINUTE_MS, DAY + 12 * HOUR_MS),
      ...minutes(id, DAY + 11 * HOUR_MS, DAY + 12 * HOUR_MS, { location: "us" }),
      ...minutes(id, DAY + DAY_MS, NOW, slow),
    ]);
    const expected = ["28 Mar 05:00 to 28 Mar 06:00: degraded", "29 Mar 00:00 to 29 Mar 00:10: degraded"];
    const degraded = async () => titlesOf(await stripOf(monitor)).filter((title) => title?.endsWith("degraded"));
    expect(await degraded()).toEqual(expected);
    await database.rollUp(NOW);
    const [row] = await database.sql<{ slow: number }[]>`select sum(slow)::integer as slow from check_hours`;
    expect(row?.slow).toBe(49);
    await database.sql`delete from checks where checked_at < ${new Date(DAY + DAY_MS)}`;
    expect(await degraded()).toEqual(expected);
  });

  it("of many monitors is read for each, and of none for nobody", async () => {
    const monitors = [await database.addMonitor(DAY), await database.addMonitor(DAY)];
    await change(monitors[1]?.id ?? 0, DAY, "down");
    const found = await historyAt(NOW).halfHours(monitors);
    expect(monitors.map(({ id }) => found.get(id)?.at(-1)?.downMs)).toEqual([0, 10 * MINUTE_MS]);
    expect(await historyAt(NOW).halfHours([])).toEqual(new Map());
  });
});

describe("response times", () => {
  /** Writes 91 days of roll-ups of a monitor that answers in 50 ms, as far as they are complete. */
  async function fillRollUps(monitorId: number): Promise<void> {
    const [from, responseMs] = [new Date(NOW - 91 * DAY_MS), encodeHistogram(histogramOf([50]))];
    const [day, hour] = [new Date(DAY + DAY_MS), new Date(DAY + DAY_MS - HOUR_MS)];
    await database.sql`
      insert into check_hours (hour, monitor_id, location, up, down, unknown, response_ms)
      select at, ${monitorId}, 'eu', 1, 0, 0, ${responseMs}
      from generate_series(date_trunc('day', ${from}::timestamptz, 'UTC'), ${hour}::timestamptz - interval '1 hour', '1 hour') as at`;
    await database.sql`
      insert into check_days (day, monitor_id, location, up, down, unknown, response_ms)
      select at, ${monitorId}, 'eu', 24, 0, 0, ${responseMs}
      from generate_series(date_trunc('day', ${from}::timestamptz, 'UTC'), ${day}::timestamptz - interval '2 days', '1 day') as at`;
    await database.sql`update history_progress set open_from = ${hour} where name = 'hours'`;
    await database.sql`update history_progress set open_from = ${new Date(DAY)} where name = 'days'`;
  }

  it.each([
    ["d1", 145],
    ["d7", 169],
    ["d30", 181],
    ["d90", 91],
  ] as const)("of %s have at most %d steps, over the roll-ups and the checks after them", async (range, steps) => {
    const { id } = await database.addMonitor(NOW - 91 * DAY_MS);
    await fillRollUps(id);
    await database.addChecks(minutes(id, NOW - DAY_MS, NOW + MINUTE_MS));
    const latency = await historyAt(NOW).latency(id, range);
    expect(latency.series).toHaveLength(1);
    expect(latency.series[0]).toMatchObject({ location: "eu", last: 50, p50: 50, p95: 50 });
    expect(latency.series[0]?.points).toHaveLength(steps);
    const html = renderLatency(
      {
        ...latency,
        label: "Response time",
        series: latency.series.map((one) => ({ ...one, name: one.location })),
        incidents: [],
        maintenance: [],
      },
      TIME,
    );
    // One line without a gap.
    expect(/<path class="c1" d="([^"]*)"/.exec(String(html))?.[1]).toMatch(/^M[^M]*$/);
  });

  it("are apart by location, in the order of their names, without locations that have none", async () => {
    const { id } = await database.addMonitor(DAY);
    await database.addChecks([
      ...minutes(id, DAY, DAY + 10 * MINUTE_MS, { location: "us", responseMs: 60 }),
      ...minutes(id, DAY + HOUR_MS, DAY + HOUR_MS + 10 * MINUTE_MS, { location: "eu", responseMs: 40 }),
      ...minutes(id, DAY, DAY + 10 * MINUTE_MS, { location: "af", status: 2, responseMs: null }),
    ]);
    const { series, stepMs } = await historyAt(DAY + 2 * HOUR_MS).latency(id, "d1");
    expect(stepMs).toBe(10 * MINUTE_MS);
    expect(series.map(({ location, p50, points }) => [location, p50, points.map(({ at }) => at.getTime())])).toEqual([
      ["eu", 40, [DAY + HOUR_MS]],
      ["us", 60, [DAY]],
    ]);
  });

  it("of a monitor without checks are none", async () => {
    expect((await historyAt(NOW).latency(1, "d30")).series).toEqual([]);
  });

  it("by the hour have the median of all locations, and change once an hour", async () => {
    const { id } = await database.addMonitor(DAY);
    const { id: other } = await database.addMonitor(DAY);
    await database.addChecks([
      ...minutes(id, DAY, DAY + HOUR_MS, { location: "eu", responseMs: 10 }),
      ...minutes(id, DAY, DAY + 30 * MINUTE_MS, { location: "us", responseMs: 50 }),
    ]);
    const now = DAY + HOUR_MS + 30 * MINUTE_MS;
    await database.rollUp(now);
    const read = async () => historyAt(now).hourlyLatency([id, other]);
    const before = await read();
    expect(before).toMatchObject({ from: DAY + HOUR_MS - DAY_MS, to: DAY + HOUR_MS, stepMs: HOUR_MS });
    expect([...before.series]).toEqual([
      [id, { points: [{ at: new Date(DAY), p50: 10, p95: 50, p99: 50 }], last: 10, p50: 10, p95: 50, p99: 50 }],
    ]);
    await database.addChecks(minutes(id, DAY + HOUR_MS, now, { responseMs: 5_000 }));
    expect(await read()).toEqual(before);
  });
});
