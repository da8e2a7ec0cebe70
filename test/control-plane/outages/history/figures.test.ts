import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { DAY_MS, HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import type { HistoryMonitor, MaintenanceBetween } from "#control-plane/outages/history/ports.ts";
import { readDays } from "#control-plane/outages/history/read/days.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { systemClock } from "#test/support/clock.ts";
import { readHalfHours } from "#control-plane/outages/history/read/half-hours.ts";
import {
  readHourlyLatency,
  readLatency,
  type LatencyRange,
  type ResponseSeries,
} from "#control-plane/outages/history/read/latency.ts";
import { readPoints } from "#control-plane/outages/history/read/read-points.ts";
import { createResponseTimes } from "#control-plane/outages/history/read/response-times.ts";
import { readUptimes } from "#control-plane/outages/history/read/uptimes.ts";
import { readProgress } from "#control-plane/outages/history/store.ts";
import { recentChecks } from "#control-plane/outages/history/recent.ts";
import { addStatusChanges, noteLateChecks } from "#control-plane/outages/history/record.ts";
import { NO_TIME } from "#control-plane/outages/history/timeline.ts";
import { rollUpDays } from "#control-plane/outages/history/roll-up/days.ts";
import { rollUpHours } from "#control-plane/outages/history/roll-up/hours.ts";
import { recomputeLate } from "#control-plane/outages/history/roll-up/late.ts";
import {
  naivePercentiles,
  naivePoints,
  naiveTimes,
  naiveUptime,
  type Life,
} from "#test/control-plane/outages/history/naive.ts";
import { createDice, type Dice } from "#test/control-plane/outages/history/random.ts";
import { createHistoryDatabase, repeat, type TestCheck } from "#test/support/history.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const KEPT = 200 * DAY_MS;
const ERROR = 0.025;

const database = await stopAfterAll(createHistoryDatabase());

/** A world of monitors whose lives are random, with gaps, late rows and a clock that is sometimes wrong. */
class World {
  readonly dice: Dice;
  readonly lives = new Map<number, Life>();
  readonly monitors = new Map<number, HistoryMonitor>();
  now: number;
  /** The latest time so far. */
  latest = 0;

  constructor(seed: number) {
    this.dice = createDice(seed);
    this.now = START + this.dice.below(DAY_MS);
  }

  readonly maintenance: MaintenanceBetween = (_sql, _account, monitors) =>
    Promise.resolve(new Map(monitors.map(({ id }) => [id, this.lives.get(id)?.maintenance ?? []])));

  async addMonitor(): Promise<void> {
    const monitor = await database.addMonitor(this.now);
    const maintenance = Array.from({ length: this.dice.below(4) }, () => {
      const from = this.now + this.dice.below(40 * DAY_MS);
      return { from, to: from + this.dice.below(2 * DAY_MS) };
    });
    this.monitors.set(monitor.id, monitor);
    this.lives.set(monitor.id, { id: monitor.id, createdAt: this.now, checks: [], changes: [], maintenance });
  }

  /** Lets time pass, seldom backwards, and records what happened in it. */
  async pass(ms: number): Promise<void> {
    const { dice } = this;
    const from = this.now;
    this.now += ms;
    this.latest = Math.max(this.latest, this.now);
    const checks: TestCheck[] = [];
    for (const life of this.lives.values()) {
      if (dice.oneIn(4)) continue;
      // Some are recorded late, in hours and days that are computed already.
      const checkedAt = () =>
        Math.max(life.createdAt, dice.oneIn(6) ? from - dice.below(30 * HOUR_MS) : from + dice.below(ms));
      for (let count = dice.below(8); count > 0; count -= 1) checks.push(this.check(life, checkedAt()));
      const times = Array.from({ length: dice.below(3) }, () => from + dice.below(ms)).toSorted((a, b) => a - b);
      if (dice.oneIn(6)) times.unshift(Math.max(life.createdAt, from - dice.below(30 * HOUR_MS)));
      for (const at of times) await this.change(life, at);
    }
    const now = new Date(this.now);
    await database.addChecks(checks);
    const noted = checks.map(({ monitorId, at }) => ({ monitorId, checkedAt: new Date(at) }));
    await transact(database.sql, (tx) => noteLateChecks(tx, noted, now));
  }

  check(life: Life, at: number): TestCheck {
    const { dice } = this;
    const check = {
      monitorId: life.id,
      at,
      location: dice.pick(["eu", "us"]),
      status: dice.pick([1, 1, 1, 2, 3, 4]),
      responseMs: dice.oneIn(8) ? null : dice.below(dice.pick([50, 500, 30_000])),
      isRecheck: dice.oneIn(8),
    };
    life.checks.push(check);
    return check;
  }

  async change(life: Life, at: number): Promise<void> {
    const status = this.dice.pick(["up", "up", "down", "unknown"] as const);
    life.changes.push({ at, status });
    const change = { monitorId: life.id, at: new Date(at), status };
    await transact(database.sql, (tx) => addStatusChanges(tx, [change], new Date(this.now)));
  }

  /** Picks up to three lives. */
  some(): readonly Life[] {
    const lives = [...this.lives.values()];
    return Array.from({ length: Math.min(3, lives.length) }, () => lives[this.dice.below(lives.length)]).flatMap(
      (life) => life ?? [],
    );
  }

  async deleteMonitor(id: number): Promise<void> {
    await database.sql`delete from monitors where id = ${id}`;
    this.lives.delete(id);
    this.monitors.delete(id);
  }

  /** Runs some of the steps that are due, as a replica that is killed at a random time does. */
  async rollUp(): Promise<void> {
    const { dice } = this;
    const now = new Date(this.now);
    const steps = [
      () => rollUpHours(database.sql, now, 5),
      () => rollUpDays(database.sql, this.maintenance, now, 2),
      () => recomputeLate(database.sql, this.maintenance, 5),
    ] as const;
    if (dice.oneIn(2)) for (const step of steps) await repeat(step);
    else for (let count = dice.below(30); count > 0; count -= 1) await dice.pick(steps)();
    // Until it is computed again, a late check is missing: every figure is compared after that.
    await repeat(() => recomputeLate(database.sql, this.maintenance, 5));
  }

  /** Sets the clock back, at most an hour behind the latest time. The upkeep runs before anything is recorded. */
  async setBack(): Promise<void> {
    if (this.now < this.latest) return;
    this.now -= this.dice.below(HOUR_MS);
    await rollUpHours(database.sql, new Date(this.now), 3);
  }
}

function expectClose(found: number | null, exact: number | null, what: string): void {
  if (exact === null || found === null) expect(found, what).toBe(exact);
  else expect(Math.abs(found - exact), `${what}: ${found} for ${exact}`).toBeLessThanOrEqual(exact * ERROR);
}

async function expectUptimes(world: World, what: string): Promise<void> {
  const { now, maintenance } = world;
  const progress = await readProgress(database.sql, new Date(now));
  const uptimes = await readUptimes(database.sql, [...world.monitors.values()], maintenance, new Date(now), progress);
  for (const life of world.lives.values()) {
    const expected = Object.fromEntries(
      [1, 7, 30, 90].map((days) => [`d${days}`, naiveUptime(life, now - days * DAY_MS, now)]),
    );
    expect(uptimes.get(life.id), `${what}, monitor ${life.id}`).toEqual(expected);
  }
}

/** Days before the first check of all have no row in the roll-up: nothing is known about them. */
async function expectDays(world: World, what: string): Promise<void> {
  const { now, maintenance } = world;
  const progress = await readProgress(database.sql, new Date(now));
  const monitors = [...world.monitors.values()];
  const days = await readDays(database.sql, monitors, maintenance, { now: new Date(now), count: 90 }, progress);
  const first = startOf(now, DAY_MS) - 89 * DAY_MS;
  const oldest = [...world.lives.values()].flatMap(({ checks }) => checks.map(({ at }) => at));
  for (const life of world.lives.values()) {
    const expected = Array.from({ length: 90 }, (_, index) => {
      const day = first + index * DAY_MS;
      const times = naiveTimes(life, day, Math.min(day + DAY_MS, now));
      const isBefore = times.upMs + times.downMs === 0 && days.get(life.id)?.[index]?.unknownMs === 0;
      return isBefore && day < Math.min(...oldest) ? NO_TIME : times;
    });
    expect(days.get(life.id), `${what}, monitor ${life.id}`).toEqual(expected);
  }
}

async function expectResponseTimes(world: World, what: string): Promise<void> {
  const { now } = world;
  const first = startOf(now, HOUR_MS) - DAY_MS;
  const clock = { monotonic: () => 0 };
  const progress = await readProgress(database.sql, new Date(now));
  const found = await createResponseTimes(clock).read(database.sql, [...world.lives.keys()], new Date(now), progress);
  for (const life of world.lives.values()) {
    const exact = naivePercentiles(life.checks.filter(({ at }) => at >= first && at < startOf(now, HOUR_MS) + HOUR_MS));
    for (const name of ["p50", "p95", "p99"] as const) {
      expectClose(found.get(life.id)?.[name] ?? null, exact[name], `${what}, monitor ${life.id} ${name}`);
    }
  }
}

async function expectPoints(world: World, what: string): Promise<void> {
  const { dice, now } = world;
  for (const life of world.some()) {
    const to = now - dice.below(20 * DAY_MS);
    const from = to - 1 - dice.below(dice.pick([6 * HOUR_MS, 7 * DAY_MS, 60 * DAY_MS]));
    const found = await readPoints(database.sql, life.id, { from, to }, new Date(now));
    const exact = naivePoints(life, { from, to }, now);
    const counts = (points: typeof exact) => points.map(({ p50: _1, p95: _2, p99: _3, ...count }) => count);
    const where = `${what}, monitor ${life.id}, ${from} to ${to}`;
    expect(counts([...found]), where).toEqual(counts(exact));
    for (const [index, point] of exact.entries()) {
      for (const name of ["p50", "p95", "p99"] as const) expectClose(found[index]?.[name] ?? null, point[name], where);
    }
  }
}

async function expectHalfHours(world: World, what: string): Promise<void> {
  const { now, maintenance } = world;
  const progress = await readProgress(database.sql, new Date(now));
  const monitors = [...world.monitors.values()];
  const yielder = createYielder(systemClock);
  const found = await readHalfHours(database.sql, monitors, maintenance, new Date(now), progress, yielder);
  const first = startOf(now, HOUR_MS / 2) - (47 * HOUR_MS) / 2;
  for (const life of world.lives.values()) {
    const expected = Array.from({ length: 48 }, (_, index) => {
      const from = first + (index * HOUR_MS) / 2;
      const to = Math.min(from + HOUR_MS / 2, now);
      const good = life.checks.filter(({ at, status = 1, isRecheck = false }) => {
        return startOf(at, HOUR_MS) === startOf(from, HOUR_MS) && !isRecheck && (status === 1 || status === 4);
      });
      const slow = good.filter(({ status }) => status === 4).length;
      return { from, to, ...naiveTimes(life, from, to), isSlow: slow > 0 && slow * 4 >= good.length };
    });
    expect(found.get(life.id), `${what}, monitor ${life.id}`).toEqual(expected);
  }
}

async function expectLatency(world: World, what: string): Promise<void> {
  const { dice, now } = world;
  const [range, days, stepMs] = dice.pick<readonly [LatencyRange, number, number]>([
    ["d1", 1, HOUR_MS / 6],
    ["d7", 7, HOUR_MS],
    ["d30", 30, 4 * HOUR_MS],
    ["d90", 90, DAY_MS],
  ]);
  const first = startOf(now - days * DAY_MS, stepMs);
  // Checks from hours that have not begun were recorded while the clock was ahead.
  const end = Math.min(startOf(now, stepMs) + stepMs, startOf(now, HOUR_MS) + HOUR_MS);
  for (const life of world.some()) {
    const checks = life.checks.filter(({ at }) => at >= first && at < end);
    const { series } = await readLatency(database.sql, life.id, range, new Date(now));
    const byLocation = Map.groupBy(checks, ({ location = "eu" }) => location);
    const known = [...byLocation].filter(([, own]) => naivePercentiles(own).p50 !== null);
    const where = `${what}, monitor ${life.id}, ${range}`;
    expect(
      series.map(({ location }) => location),
      where,
    ).toEqual(known.map(([location]) => location).toSorted());
    for (const found of series) expectSeries(found, byLocation.get(found.location) ?? [], stepMs, where);
  }
  const progress = await readProgress(database.sql, new Date(now));
  const hourly = await readHourlyLatency(database.sql, [...world.lives.keys()], new Date(now), progress);
  for (const life of world.lives.values()) {
    const until = Math.min(startOf(now, HOUR_MS), progress.openHour);
    const checks = life.checks.filter(({ at }) => at >= startOf(now, HOUR_MS) - DAY_MS && at < until);
    const found = hourly.series.get(life.id) ?? { points: [], last: null, p50: null, p95: null, p99: null };
    expectSeries(found, checks, HOUR_MS, `${what}, monitor ${life.id}, hourly`);
  }
}

function expectSeries(found: ResponseSeries, checks: readonly TestCheck[], stepMs: number, what: string): void {
  const whole = naivePercentiles(checks);
  const steps = [...Map.groupBy(checks, ({ at }) => startOf(at, stepMs))]
    .map(([at, own]) => ({ at: new Date(at), ...naivePercentiles(own) }))
    .filter(({ p50 }) => p50 !== null)
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  expect(
    found.points.map(({ at }) => at),
    what,
  ).toEqual(steps.map(({ at }) => at));
  expect(found.last, what).toBe(found.points.at(-1)?.p50 ?? null);
  for (const name of ["p50", "p95", "p99"] as const) {
    expectClose(found[name], whole[name], `${what} ${name}`);
    for (const [index, step] of steps.entries()) expectClose(found.points[index]?.[name] ?? null, step[name], what);
  }
}

async function expectRecent(world: World, what: string): Promise<void> {
  for (const life of world.some()) {
    const found = await recentChecks(
      database.sql,
      { id: life.id, createdAt: new Date(life.createdAt) },
      20,
      new Date(world.now),
    );
    const times = life.checks.map(({ at }) => at).toSorted((a, b) => b - a);
    const recorded = times.slice(0, 20).map((at) => new Date(at).toISOString());
    expect(
      found.map((check) => check.checked_at),
      `${what}, monitor ${life.id}`,
    ).toEqual(recorded);
  }
}

describe("random lives", () => {
  const rounds = 25;

  it.each([1, 2, 3, 4])("have the figures of a count of all checks and changes (%i)", async (seed) => {
    await database.clear();
    const world = new World(seed);
    const { dice } = world;
    for (let round = 0; round < rounds; round += 1) {
      const what = `seed ${seed} round ${round}`;
      if (world.lives.size < 8 && dice.oneIn(2)) await world.addMonitor();
      const [oldest] = world.lives.keys();
      if (oldest !== undefined && dice.oneIn(20)) await world.deleteMonitor(oldest);
      if (dice.oneIn(3)) await keepPartitions(database.sql, CHECKS, new Date(world.now), KEPT);
      await world.pass(1 + dice.below(dice.pick([10 * 60_000, 3 * HOUR_MS, 20 * HOUR_MS, 9 * DAY_MS])));
      if (dice.oneIn(5)) await world.setBack();
      await world.rollUp();
      await expectUptimes(world, what);
      await expectDays(world, what);
      await expectResponseTimes(world, what);
      await expectPoints(world, what);
      await expectHalfHours(world, what);
      await expectLatency(world, what);
      await expectRecent(world, what);
    }
    const days = await database.sql`select from monitor_days`;
    expect(days.length, "days that the roll-up computed").toBeGreaterThan(20);
  });
});
