import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAnonymousLimits, type AnonymousLimits } from "#control-plane/http/limits/anonymous.ts";
import { countRequests, type RequestsToCount } from "#control-plane/http/limits/store.ts";
import type { Windows } from "#control-plane/http/access/windows.ts";
import { createManualClock } from "#test/support/clock.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let clock: ReturnType<typeof createManualClock>;
let replicas: Replica[];
let away: boolean;

const ALLOWANCE = { requestsPerMinute: 5, requestsPerDay: 8 };

/** The limits of one replica, which count its exchanges of counts with the others. */
interface Replica extends AnonymousLimits {
  exchanges(): number;
}

function open(): Replica {
  let exchanges = 0;
  const count = (windows: Windows, asks: readonly RequestsToCount[]) =>
    away ? Promise.reject(new Error("away")) : countRequests(sql, windows, asks);
  const limits = createAnonymousLimits({
    clock,
    allowance: ALLOWANCE,
    count: (windows, asks) => count(windows, asks).finally(() => (exchanges += 1)),
  });
  const replica = { ...limits, exchanges: () => exchanges };
  replicas.push(replica);
  return replica;
}

/** Waits until replicas that have counted requests have exchanged their counts. */
async function exchanged(...some: readonly Replica[]): Promise<void> {
  const before = some.map((one) => one.exchanges());
  await until(() => some.every((one, at) => one.exchanges() > (before[at] ?? 0)), "an exchange of counts");
}

function takeMany(limits: AnonymousLimits, address: string, times: number): (string | null)[] {
  return Array.from({ length: times }, () => limits.take(address).denied);
}

const database = await stopAfterAll(openDatabase({ connections: 1 }));
const { sql } = database;

beforeEach(async () => {
  await sql`truncate request_counts`;
  clock = createManualClock(new Date("2026-03-01T12:00:10Z"));
  replicas = [];
  away = false;
});

afterEach(() => {
  for (const limits of replicas) limits.close();
});

describe("the open tier's limits", () => {
  it("admit exactly the minute's limit, then the day's, and start again with each window", () => {
    const limits = open();
    expect(takeMany(limits, "192.0.2.1", 6)).toEqual([null, null, null, null, null, "minute"]);
    clock.advance(60_000);
    expect(takeMany(limits, "192.0.2.1", 4)).toEqual([null, null, null, "day"]);
    clock.advance(12 * 3_600_000);
    expect(limits.take("192.0.2.1")).toMatchObject({ denied: null, minuteRemaining: 4, dayRemaining: 7 });
  });

  it("count an IPv6 subscriber by the /64, and each other address separately", () => {
    const limits = open();
    takeMany(limits, "2001:db8:1:2::1", 5);
    expect(limits.take("2001:db8:1:2:ffff::9").denied).toBe("minute");
    expect(limits.take("2001:db8:1:3::1").denied).toBeNull();
    expect(limits.take("192.0.2.7").denied).toBeNull();
  });

  it("apply across replicas and restarts, a moment later", async () => {
    const [one, two] = [open(), open()];
    takeMany(one, "192.0.2.1", 3);
    takeMany(two, "192.0.2.1", 1);
    await exchanged(one, two);
    takeMany(two, "192.0.2.1", 1);
    await exchanged(two);
    expect(two.take("192.0.2.1").denied).toBe("minute");
    const restarted = open();
    restarted.take("192.0.2.1");
    await exchanged(restarted);
    expect(restarted.take("192.0.2.1").denied).toBe("minute");
  });

  it("continue in memory while the database is away", async () => {
    away = true;
    const limits = open();
    takeMany(limits, "192.0.2.1", 3);
    await exchanged(limits);
    expect(takeMany(limits, "192.0.2.1", 3)).toEqual([null, null, "minute"]);
  });

  it("never change an account's row: their row ids are negative", async () => {
    const limits = open();
    limits.take("192.0.2.1");
    await exchanged(limits);
    const rows = await sql<{ id: number }[]>`select account_id as id from request_counts`;
    expect(rows).toHaveLength(1);
    expect(rows[0]?.id).toBeLessThan(0);
  });
});
