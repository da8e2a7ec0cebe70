import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import type { Limiter, LimitKind } from "#control-plane/http/access/ports.ts";
import { createLimiter } from "#control-plane/http/limits/account.ts";
import { countRequests, pruneCounts } from "#control-plane/http/limits/store.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import { windowsAt } from "#control-plane/http/access/windows.ts";
import { BUILT_IN_PLANS, type Plan } from "#control-plane/core/plans.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let clock: ReturnType<typeof createManualClock>;
let limiters: Limiter[];
let statements: number[];

const plan = (perMinute: number, perDay: number): Plan => ({
  ...BUILT_IN_PLANS.pro,
  requestsPerMinute: perMinute,
  requestsPerDay: perDay,
});

function take(
  limiter: Limiter | undefined,
  account: number,
  of: Plan,
  kind: LimitKind = "minute-and-day",
): Promise<LimitState> {
  return new Promise((resolve, reject) => {
    limiter?.take(account, of, kind, (error, state) => {
      if (state === null) reject(error);
      else resolve(state);
    });
  });
}

const denials = (states: readonly LimitState[]) => ({
  passed: states.filter((state) => state.denied === null).length,
  minute: states.filter((state) => state.denied === "minute").length,
  day: states.filter((state) => state.denied === "day").length,
});

const database = await stopAfterAll(createTestDatabase());
const replicas = [1, 2, 3].map((at) =>
  connect(database.url, { connections: 1, name: `replica ${at}`, statementTimeoutMs: 10_000 }),
);

afterAll(async () => {
  await Promise.all(replicas.map((sql) => sql.end()));
});

beforeEach(async () => {
  const [first] = replicas as [Sql];
  await first`truncate request_counts`;
  clock = createManualClock(new Date("2026-03-01T12:00:10Z"));
  statements = [];
  limiters = replicas.map((sql) =>
    createLimiter({
      clock,
      count: (windows, asks) => countRequests(sql, windows, asks),
      onStatement: (requests) => statements.push(requests),
    }),
  );
});

describe("the limits of an account", () => {
  it("admit exactly the minute's limit over three replicas at the same time", async () => {
    const states = await Promise.all(
      Array.from({ length: 900 }, async (_, at) => {
        // Spread over turns of the event loop, so that the batches of the replicas interleave.
        await wait(at % 17);
        return take(limiters[at % 3], 1 + (at % 2), plan(100, 10_000));
      }),
    );
    const ofFirst = states.filter((_, at) => at % 2 === 0);
    expect(denials(ofFirst)).toEqual({ passed: 100, minute: 350, day: 0 });
    expect(denials(states)).toEqual({ passed: 200, minute: 700, day: 0 });
  });

  it("report a different remainder to each request of a minute, from the limit down to 0", async () => {
    const states = await Promise.all(
      Array.from({ length: 60 }, (_, at) => take(limiters[at % 3], 1, plan(50, 10_000))),
    );
    const remainders = states.filter(({ denied }) => denied === null).map((state) => state.minuteRemaining);
    expect(remainders.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, at) => at));
    for (const { denied, minuteRemaining } of states) if (denied !== null) expect(minuteRemaining).toBe(0);
  });

  it("admit exactly the day's limit over several minutes", async () => {
    const passed: number[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      const states = await Promise.all(Array.from({ length: 30 }, (_, at) => take(limiters[at % 3], 1, plan(20, 50))));
      passed.push(denials(states).passed);
      clock.advance(60_000);
    }
    expect(passed).toEqual([20, 20, 10, 0]);
    expect(await take(limiters[0], 1, plan(20, 50))).toMatchObject({
      denied: "day",
      dayRemaining: 0,
      minuteRemaining: 20,
    });
  });

  it("start again with each minute and each UTC day", async () => {
    expect((await take(limiters[0], 1, plan(1, 2))).denied).toBeNull();
    expect((await take(limiters[1], 1, plan(1, 2))).denied).toBe("minute");
    clock.advance(60_000);
    expect((await take(limiters[2], 1, plan(1, 2))).denied).toBeNull();
    clock.advance(60_000);
    expect((await take(limiters[0], 1, plan(1, 2))).denied).toBe("day");
    clock.advance(86_400_000);
    expect((await take(limiters[0], 1, plan(1, 2))).denied).toBeNull();
  });

  it("do not count a denied request", async () => {
    await take(limiters[0], 1, plan(10, 1));
    const denied = await Promise.all(Array.from({ length: 5 }, () => take(limiters[0], 1, plan(10, 1))));
    expect(denied.map((state) => [state.denied, state.minuteRemaining])).toEqual(
      Array.from({ length: 5 }, () => ["day", 9]),
    );
    expect((await take(limiters[0], 1, plan(10, 3))).denied).toBeNull();
  });

  it("count minute-only calls in the minute but not in the day, even when the day is used up", async () => {
    expect((await take(limiters[0], 1, plan(5, 1))).dayRemaining).toBe(0);
    const mixed = await Promise.all([
      take(limiters[0], 1, plan(5, 1), "minute"),
      take(limiters[0], 1, plan(5, 1)),
      take(limiters[0], 1, plan(5, 1), "minute"),
    ]);
    expect(mixed.map((state) => state.denied)).toEqual([null, "day", null]);
    expect((await take(limiters[0], 1, plan(5, 2), "minute")).dayRemaining).toBe(1);
    expect((await take(limiters[0], 1, plan(4, 2), "minute")).denied).toBe("minute");
  });

  it("apply a new plan within the minute of the change", async () => {
    await Promise.all(Array.from({ length: 8 }, () => take(limiters[0], 1, plan(8, 100))));
    expect((await take(limiters[0], 1, plan(5, 100))).denied).toBe("minute");
    expect(await take(limiters[0], 1, plan(10, 100))).toMatchObject({ denied: null, minuteRemaining: 1 });
  });

  it("count requests of a replica whose clock is behind in the minute that has begun", async () => {
    const late = createManualClock(new Date("2026-03-01T12:00:59Z"));
    const early = createManualClock(new Date("2026-03-01T12:01:00Z"));
    const [first, second] = [late, early].map((own, at) =>
      createLimiter({ clock: own, count: (windows, asks) => countRequests(replicas[at] as Sql, windows, asks) }),
    );
    await take(second, 1, plan(3, 100));
    await take(first, 1, plan(3, 100));
    const { denied, minuteRemaining, minute } = await take(second, 1, plan(3, 100));
    expect({ denied, minuteRemaining, minute }).toEqual({
      denied: null,
      minuteRemaining: 0,
      minute: windowsAt(early.now().getTime()).minute,
    });
  });

  it("recover from a clock that was far ahead", async () => {
    clock.advance(3_600_000);
    await take(limiters[0], 1, plan(1, 1));
    const back = createManualClock(new Date("2026-02-01T12:00:10Z"));
    const limiter = createLimiter({
      clock: back,
      count: (windows, asks) => countRequests(replicas[0] as Sql, windows, asks),
    });
    expect((await take(limiter, 1, plan(1, 1))).denied).toBeNull();
    expect((await take(limiter, 1, plan(1, 1))).denied).toBe("minute");
  });

  it("need at most two statements for a burst of 100 requests", async () => {
    await Promise.all(Array.from({ length: 100 }, (_, at) => take(limiters[0], 1 + (at % 10), plan(60, 5_000))));
    expect(statements.length).toBeLessThanOrEqual(2);
    expect(statements.reduce((sum, requests) => sum + requests, 0)).toBe(100);
  });

  it("delete the counts of accounts without requests for two days", async () => {
    const [sql] = replicas as [Sql];
    await take(limiters[0], 1, plan(1, 1));
    clock.advance(2 * 86_400_000);
    await take(limiters[0], 2, plan(1, 1));
    expect(await pruneCounts(sql, windowsAt(clock.now().getTime()).day - 1)).toBe(1);
    expect(await sql`select account_id from request_counts`).toEqual([{ account_id: 2 }]);
  });
});

describe("when the database does not count", () => {
  it("every waiting request gets an error, and later requests are counted again", async () => {
    let away = true;
    let begun = 0;
    const failing = Promise.withResolvers<void>();
    const limiter = createLimiter({
      clock,
      count: async (windows, asks) => {
        begun += 1;
        await failing.promise;
        if (away) throw new Error("away");
        return countRequests(replicas[0] as Sql, windows, asks);
      },
    });
    const first = Array.from({ length: 5 }, () => take(limiter, 1, plan(10, 10)));
    await until(() => begun === 1, "the statement");
    // These wait behind the failing statement and fail with it, without another statement.
    const behind = Array.from({ length: 5 }, () => take(limiter, 2, plan(10, 10)));
    failing.resolve();
    const settled = await Promise.allSettled([...first, ...behind]);
    expect(settled.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "rejected"));
    expect(begun).toBe(1);
    away = false;
    expect((await take(limiter, 1, plan(10, 10))).denied).toBeNull();
  });
});
