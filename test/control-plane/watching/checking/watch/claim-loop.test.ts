import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import { createRoster } from "#control-plane/checks/dispatch/roster.ts";
import { insertEntries } from "#control-plane/watching/checking/schedule/store.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { MOST_BUSY, startClaimLoop } from "#control-plane/watching/checking/watch/claim-loop.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { ago } from "#test/support/ago.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const LOCATIONS = ["eu-west", "us-east"];
const MONITORS = 10;
const MINUTE_MS = 60_000;

const { sql } = await stopAfterAll(openDatabase());

/** Creates monitors whose checks are overdue, the first ones by the longest time. */
async function createOverdue(): Promise<void> {
  const [account] = await sql<{ id: number }[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values ('owner@example.com', 'pro', now(), now()) returning id`;
  const accountId = account?.id ?? 0;
  const settings = { ...DEFAULT_SETTINGS, locations: LOCATIONS };
  const monitor = { accountId, url: "https://shop.example.com/", checkType: "http", intervalMinutes: 1 } as const;
  const rest = { isActive: true, pausedReason: null, tags: [], dependsOn: null, settings, secrets: null };
  await transact(sql, async (tx) => {
    const ids = await reserveIds(tx, MONITORS);
    await insertMonitors(
      tx,
      ids.map((id) => ({ ...monitor, ...rest, id, name: `m${id}` })),
      new Date(),
    );
    await insertStates(tx, ids);
    const times = { intervalSeconds: 60, phaseMs: 0, timeoutSeconds: 15 };
    await insertEntries(
      tx,
      ids.flatMap((monitorId, index) =>
        LOCATIONS.map((location) => ({
          ...times,
          monitorId,
          location,
          accountId,
          plannedAt: ago((MONITORS - index) * MINUTE_MS),
        })),
      ),
    );
  });
}

it("overdue checks that are claimed before agents have attached keep their places", async () => {
  await createOverdue();
  const claimed: number[] = [];
  const loop = startClaimLoop({
    timers: liveTimers,
    sql,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    roster: createRoster(systemClock),
    replicaId: "replica-of-the-test",
    monitors: createWatchedMonitors(),
    busy: () => 0,
    fullAccounts: () => [],
    check: ({ monitorId }) => void claimed.push(monitorId),
    recordNoAgent: ({ monitorId }) => void claimed.push(monitorId),
  });
  loop.wake();
  await loop.stop();
  expect(claimed).toEqual([]);
  const entries = await sql<{ lease: number; plannedAt: Date; dueAt: Date }[]>`
    select lease, planned_at as "plannedAt", due_at as "dueAt" from monitor_slots order by planned_at`;
  expect(entries.map(({ lease }) => lease)).toEqual(entries.map(() => 0));
  expect(entries.map(({ dueAt }) => dueAt)).toEqual(entries.map(({ plannedAt }) => plannedAt));
  expect(entries).toHaveLength(MONITORS * LOCATIONS.length);
});

it("claims that leave accounts out follow each other at intervals of many times their own duration", async () => {
  /** Returns the times between claims. */
  const measure = async (fullAccounts: readonly number[]): Promise<readonly number[]> => {
    const claims: number[] = [];
    let time = 0;
    const loop = startClaimLoop({
      timers: liveTimers,
      sql,
      // Each reading is 100 ms after the one before, so that a claim seems to take that long.
      clock: { now: () => new Date(), monotonic: () => (time += 100) },
      random: {
        bytes(length) {
          claims.push(time);
          return systemRandom.bytes(length);
        },
      },
      log: pino({ level: "silent" }),
      roster: createRoster(systemClock),
      replicaId: "replica-of-the-test",
      monitors: createWatchedMonitors(),
      busy: () => 0,
      fullAccounts: () => fullAccounts,
      check: () => {},
      recordNoAgent: () => {},
    });
    await until(() => claims.length >= 6, "claims");
    await loop.stop();
    return claims.slice(1).map((at, index) => at - (claims[index] ?? 0));
  };
  // Three or four readings of the clock are between two claims that follow each other.
  expect(Math.max(...(await measure([])))).toBeLessThan(500);
  // The pause is 500 ms after the end of each claim.
  expect(Math.min(...(await measure([1])))).toBeGreaterThan(500);
});

it.each([
  [1, 20],
  [2, 10],
  [4, 5],
  // A check that only one of them can serve must not wait longer.
  [50, 4],
])("%i replicas claim in turns: each %i times in 20 ticks", async (replicas, claims) => {
  const presence: Presence = {
    absent: () => [],
    replicas: () => Array.from({ length: replicas }, (_, index) => ({ id: String(index), address: "" })),
    onReplicas: () => {},
    changed: () => {},
  };
  let tick = () => {};
  let asked = 0;
  const loop = startClaimLoop({
    timers: {
      ...liveTimers,
      repeat(_everyMs, work) {
        tick = () => void work();
        return { stop: () => {} };
      },
    },
    sql,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    roster: createRoster(systemClock, presence),
    replicaId: "replica-of-the-test",
    monitors: createWatchedMonitors(),
    // There is no room: a claim ends before it reads anything.
    busy() {
      asked += 1;
      return MOST_BUSY;
    },
    fullAccounts: () => [],
    check: () => {},
    recordNoAgent: () => {},
  });
  for (let count = 0; count < 20; count += 1) {
    tick();
    await setImmediate();
  }
  await loop.stop();
  expect(asked).toBe(claims);
});
