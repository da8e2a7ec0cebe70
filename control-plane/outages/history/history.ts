import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "#control-plane/core/app.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Percentiles } from "#control-plane/outages/history/histogram.ts";
import { type Span, DAY_MS, hoursBetween, startOf } from "#control-plane/outages/history/period.ts";
import type { Point } from "#control-plane/outages/history/points.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { readDays, type DayTimes } from "#control-plane/outages/history/read/days.ts";
import { readHalfHours, type HalfHour } from "#control-plane/outages/history/read/half-hours.ts";
import {
  readHourlyLatency,
  readLatency,
  type HourlyLatency,
  type Latency,
  type LatencyRange,
} from "#control-plane/outages/history/read/latency.ts";
import { readPoints } from "#control-plane/outages/history/read/read-points.ts";
import { createResponseTimes } from "#control-plane/outages/history/read/response-times.ts";
import { readStatusChanges, type NewestStatusChanges } from "#control-plane/outages/history/read/status-changes.ts";
import { findLastResponses } from "#control-plane/outages/history/read/store.ts";
import { readUptimes, type Uptimes } from "#control-plane/outages/history/read/uptimes.ts";
import { recentChecks, type RecentCheck } from "#control-plane/outages/history/recent.ts";
import { rollUpDays } from "#control-plane/outages/history/roll-up/days.ts";
import { rollUpHours, type Step } from "#control-plane/outages/history/roll-up/hours.ts";
import { recomputeLate } from "#control-plane/outages/history/roll-up/late.ts";
import { deleteHours, HOURS_KEPT_MS } from "#control-plane/outages/history/roll-up/retention.ts";
import {
  searchChecks,
  type CheckSearch,
  type FoundChecks,
  type SearchedMonitor,
} from "#control-plane/outages/history/search.ts";
import { readProgress, type Progress } from "#control-plane/outages/history/store.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteDay, forgetMonitors, lockOldestDay, moveTo } from "#control-plane/outages/history/deleted-store.ts";
import { firstKeptDay, type DayTable } from "#control-plane/core/database/partitions/days.ts";
import { lockPosition } from "#control-plane/outages/history/roll-up/store.ts";

/** Days after today that can hold checks: those recorded while the clock was ahead. */
const AHEAD_MS = DAY_MS;

/**
 * Deletes one day of the history of up to `monitors` deleted monitors, the oldest first. With the lock of the roll-up by
 * hour, so that no replica computes rows from the checks while they are deleted.
 */
export function sweepDeleted(sql: Sql, now: Date, retentionMs: number, monitors: number): Promise<Step> {
  return transact(sql, async (tx) => {
    if ((await lockPosition(tx, "hours")) === null) return "idle";
    const oldest = await lockOldestDay(tx, monitors);
    if (oldest === null) return "idle";
    const { monitorIds } = oldest;
    const firstKept = firstKeptDay(now.getTime(), Math.max(retentionMs, HOURS_KEPT_MS));
    const day = Math.max(oldest.day.getTime(), firstKept);
    if (day > startOf(now.getTime(), DAY_MS) + AHEAD_MS) {
      await forgetMonitors(tx, monitorIds);
    } else {
      await deleteDay(tx, hoursBetween(day, day + DAY_MS), monitorIds);
      await moveTo(tx, monitorIds, new Date(day + DAY_MS));
    }
    return "moved";
  });
}

/** What history knows about a monitor. */
export interface Statistics {
  readonly uptime: Uptimes;
  /** Of successful checks in the running hour and the 24 hours before it. */
  readonly responseMs: Percentiles;
}

/** What checks leave behind: the newest checks, points of time, uptime and response times. */
export interface History {
  /** Creates the partitions that the first checks need, and starts the upkeep. Rejects while the database is away. */
  start(): Promise<void>;
  /** Returns the summaries of up to 100 monitors by id, in a bounded number of statements. */
  summarise(monitors: readonly HistoryMonitor[]): Promise<ReadonlyMap<number, Statistics>>;
  /** Returns the uptimes of any number of monitors by id, in a bounded number of statements. */
  uptimes(monitors: readonly HistoryMonitor[]): Promise<ReadonlyMap<number, Uptimes>>;
  /** Returns the newest checks of a monitor in the shape of the API, newest first. */
  recentChecks(monitor: Pick<HistoryMonitor, "id" | "createdAt">, limit: number): Promise<readonly RecentCheck[]>;
  /** Searches the checks of a monitor, one page at a time over a bounded time (search.ts). */
  searchChecks(monitor: SearchedMonitor, search: CheckSearch, limit: number): Promise<FoundChecks>;
  /**
   * Returns the last `count` UTC days of monitors up to the beginning of the minute, in a bounded number of statements
   * (read/days.ts). Without a change of a status, answers within a minute are the same.
   */
  days(monitors: readonly HistoryMonitor[], count: number): Promise<ReadonlyMap<number, DayTimes>>;
  /**
   * Returns the response times of the newest successful checks by monitor id. Monitors without one in the hour of their
   * newest check, and the hour before, are missing.
   */
  lastResponses(
    monitors: readonly { readonly id: number; readonly lastCheckedAt: Date }[],
  ): Promise<ReadonlyMap<number, number>>;
  /** Returns a range of a monitor's history (read/read-points.ts). */
  readPoints(monitorId: number, range: Span): Promise<readonly Point[]>;
  /** Returns the last 48 half hours of monitors, in a bounded number of statements (read/half-hours.ts). */
  halfHours(monitors: readonly HistoryMonitor[]): Promise<ReadonlyMap<number, readonly HalfHour[]>>;
  /** Returns the response times of a monitor by location in the last 1, 7, 30 or 90 days (read/latency.ts). */
  latency(monitorId: number, range: LatencyRange): Promise<Latency>;
  /** Returns the response times of monitors in the last 24 whole hours, in one statement (read/latency.ts). */
  hourlyLatency(monitorIds: readonly number[]): Promise<HourlyLatency>;
  /** Returns the newest changes of a monitor's status. */
  statusChanges(monitorId: number, limit: number): Promise<NewestStatusChanges>;
  /** Starts no further upkeep, and waits for a step that is running. */
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
const PARTITIONS_EVERY_MS = 600_000;
const ROLL_UPS_EVERY_MS = 30_000;

/** How long the progress of the roll-ups is used for reads, in milliseconds. */
const PROGRESS_MS = 5_000;

/** Monitors of one step of each kind: about half a second of the database, and a few milliseconds of this process. */
const STEP = { hours: 2_500, days: 100, late: 500, deleted: 100 };

/** Opens the history of one replica and starts its upkeep. Rejects while the database is away. */
export async function openHistory(deps: Parameters<typeof createHistory>[0], teardown: Teardown): Promise<History> {
  const history = createHistory(deps);
  teardown.push(() => history.stop());
  await history.start();
  return history;
}

/** Creates the history of one replica. Checks are kept for `retentionMs`. */
export function createHistory({
  sql,
  clock,
  log,
  timers,
  retentionMs,
  maintenanceBetween,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & {
  readonly retentionMs: number;
  readonly maintenanceBetween: MaintenanceBetween;
}): History {
  const now = () => clock.now();
  const responseTimes = createResponseTimes(clock);
  let progress: { readonly readAt: number; readonly value: Progress } | null = null;
  let isStopped = false;
  let running: Promise<unknown> = Promise.resolve();
  const upkeeps: { stop(): void }[] = [];

  /** Runs steps until one is idle. After each step it pauses as long as the step took: half of a core is for checks. */
  async function runSteps(step: () => Promise<Step>): Promise<void> {
    for (;;) {
      if (isStopped) return;
      const startedAt = clock.monotonic();
      const current = step();
      running = current.catch(() => {});
      if ((await current) === "idle") return;
      await sleep(clock.monotonic() - startedAt, undefined, { ref: false });
    }
  }

  /** Returns the progress of some seconds ago: what has been rolled up since is then computed from its checks. */
  async function recentProgress(at: Date): Promise<Progress> {
    const readAt = clock.monotonic();
    if (progress === null || readAt - progress.readAt > PROGRESS_MS)
      progress = { readAt, value: await readProgress(sql, at) };
    return progress.value;
  }

  async function rollUp(): Promise<void> {
    await runSteps(() => rollUpHours(sql, now(), STEP.hours));
    await runSteps(() => recomputeLate(sql, maintenanceBetween, STEP.late));
    await runSteps(() => rollUpDays(sql, maintenanceBetween, now(), STEP.days));
    await runSteps(() => sweepDeleted(sql, now(), retentionMs, STEP.deleted));
    await deleteHours(sql, now());
  }

  return {
    async start() {
      await keepPartitions(sql, CHECKS, now(), retentionMs);
      upkeeps.push(
        startUpkeep({
          everyMs: PARTITIONS_EVERY_MS,
          round: () => keepPartitions(sql, CHECKS, now(), retentionMs),
          // Meanwhile checks go to the default partition.
          name: "history: the update of the partitions of checks",
          log,
          timers,
        }),
        startUpkeep({
          everyMs: ROLL_UPS_EVERY_MS,
          round: rollUp,
          name: "history: a roll-up",
          log,
          timers,
        }),
      );
    },
    async summarise(monitors) {
      const at = now();
      const ids = monitors.map(({ id }) => id);
      const known = await recentProgress(at);
      const [uptimes, times] = await Promise.all([
        readUptimes(sql, monitors, maintenanceBetween, at, known),
        responseTimes.read(sql, ids, at, known),
      ]);
      return new Map(
        ids.map((id) => [
          id,
          {
            uptime: uptimes.get(id) ?? { d1: null, d7: null, d30: null, d90: null },
            responseMs: times.get(id) ?? { p50: null, p95: null, p99: null },
          },
        ]),
      );
    },
    async uptimes(monitors) {
      const at = now();
      return readUptimes(sql, monitors, maintenanceBetween, at, await recentProgress(at));
    },
    recentChecks: (monitor, limit) => recentChecks(sql, monitor, limit, now()),
    searchChecks: (monitor, search, limit) => searchChecks(sql, monitor, search, limit, now()),
    async days(monitors, count) {
      const at = now();
      const minute = new Date(Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS);
      return readDays(sql, monitors, maintenanceBetween, { now: minute, count }, await recentProgress(at));
    },
    async lastResponses(monitors) {
      if (monitors.length === 0) return new Map();
      const found = await findLastResponses(sql, monitors);
      return new Map(found.map(({ monitorId, responseMs }) => [monitorId, responseMs]));
    },
    readPoints: (monitorId, range) => readPoints(sql, monitorId, range, now()),
    async halfHours(monitors) {
      const at = now();
      return readHalfHours(sql, monitors, maintenanceBetween, at, await recentProgress(at), createYielder(clock));
    },
    latency: (monitorId, range) => readLatency(sql, monitorId, range, now()),
    async hourlyLatency(monitorIds) {
      const at = now();
      return readHourlyLatency(sql, monitorIds, at, await recentProgress(at));
    },
    statusChanges: (monitorId, limit) => readStatusChanges(sql, monitorId, limit),
    async stop() {
      isStopped = true;
      for (const upkeep of upkeeps) upkeep.stop();
      await running;
    },
  };
}

/** The table of checks, one partition a day. */
export const CHECKS: DayTable = {
  name: "checks",
  column: "checked_at",
  lock: 8_026_134_478_127,
  // A day is written once and read as a whole when it is an hour old. A vacuum after every fifth of its rows would only
  // write its pages again.
  storage: "autovacuum_vacuum_insert_threshold = -1",
};
