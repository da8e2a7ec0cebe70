import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { countTargets, pruneTargets } from "#control-plane/http/limits/store.ts";
import {
  createTargetBudget,
  type TargetBudget,
  type BudgetDecision,
} from "#control-plane/http/limits/target-budget.ts";
import { targetKey } from "#control-plane/http/limits/target-key.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let clock: ReturnType<typeof createManualClock>;
let budgets: TargetBudget[];
let statements: number;

const LIMIT = 30;
const passed = (decisions: readonly BudgetDecision[]) => decisions.filter((decision) => decision.ok).length;

function take(replica: number, target: string, anonymous = false): Promise<BudgetDecision> {
  return budgets[replica]?.take(target, anonymous) ?? Promise.reject(new Error("no such replica"));
}

const database = await stopAfterAll(createTestDatabase());
const replicas = [1, 2, 3].map((at) =>
  connect(database.url, { connections: 1, name: `replica ${at}`, statementTimeoutMs: 10_000 }),
);

afterAll(async () => {
  await Promise.all(replicas.map((sql) => sql.end()));
});

beforeEach(async () => {
  const [first] = replicas as [Sql];
  await first`truncate target_counts`;
  clock = createManualClock(new Date("2026-03-01T12:00:10Z"));
  statements = 0;
  budgets = replicas.map((sql) =>
    createTargetBudget({
      clock,
      limit: LIMIT,
      count: (minute, limits, asks) => {
        statements += 1;
        return countTargets(sql, minute, limits, asks);
      },
    }),
  );
});

describe("the budget of a target", () => {
  it("admits exactly the limit of each target over three replicas at the same time", async () => {
    const decisions = await Promise.all(
      Array.from({ length: 600 }, async (_, at) => {
        // Spread over turns of the event loop, so that the batches of the replicas interleave.
        await wait(at % 17);
        return take(at % 3, at % 2 === 0 ? "even.example" : "odd.example");
      }),
    );
    expect(passed(decisions.filter((_, at) => at % 2 === 0))).toBe(LIMIT);
    expect(passed(decisions)).toBe(2 * LIMIT);
  });

  it("gives callers without an account ten calls, and leaves the rest to accounts", async () => {
    const flood = await Promise.all(Array.from({ length: 200 }, (_, at) => take(at % 3, "a.example", true)));
    expect(passed(flood)).toBe(10);
    const named = await Promise.all(Array.from({ length: 60 }, (_, at) => take(at % 3, "a.example")));
    expect(passed(named)).toBe(LIMIT - 10);
    expect(await take(0, "a.example", true)).toEqual({ ok: false, retryAfterSeconds: 50 });
  });

  it("admits accounts first if both call at the same time", async () => {
    const both = Array.from({ length: 40 }, (_, at) => take(0, "b.example", at % 2 === 0));
    const decisions = await Promise.all(both);
    expect(passed(decisions.filter((_, at) => at % 2 === 1))).toBe(20);
    expect(passed(decisions)).toBe(LIMIT);
  });

  it("says how long to wait, and starts again with the minute", async () => {
    const decisions = await Promise.all(Array.from({ length: LIMIT + 1 }, () => take(0, "c.example")));
    expect(decisions.at(-1)).toEqual({ ok: false, retryAfterSeconds: 50 });
    clock.advance(49_500);
    expect(await take(1, "c.example")).toEqual({ ok: false, retryAfterSeconds: 1 });
    clock.advance(500);
    expect(await take(0, "c.example")).toEqual({ ok: true });
  });

  it("does not query the database about a target whose budget is used up in this minute", async () => {
    await Promise.all(Array.from({ length: LIMIT + 1 }, () => take(0, "d.example")));
    const before = statements;
    await Promise.all(Array.from({ length: 100 }, () => take(0, "d.example")));
    expect(statements).toBe(before);
  });

  it("counts waiting calls in one statement", async () => {
    await Promise.all(Array.from({ length: 500 }, (_, at) => take(0, `${at % 50}.example`)));
    expect(statements).toBeLessThanOrEqual(2);
  });

  it("rejects every waiting call if it cannot be counted", async () => {
    const broken = createTargetBudget({ clock, limit: 5, count: () => Promise.reject(new Error("away")) });
    const calls = await Promise.allSettled([broken.take("x", false), broken.take("y", true)]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  it("deletes rows of earlier minutes", async () => {
    const [first] = replicas as [Sql];
    await take(0, "e.example");
    expect(await pruneTargets(first, Math.floor(clock.now().getTime() / 60_000))).toBe(0);
    expect(await pruneTargets(first, Math.floor(clock.now().getTime() / 60_000) + 1)).toBe(1);
  });
});

describe("the key by which a target is counted", () => {
  it.each([
    ["www.example.co.uk", "example.co.uk"],
    ["example.com", "example.com"],
    ["*.a.example.com", "example.com"],
    ["someone.github.io", "someone.github.io"],
    ["co.uk", "co.uk"],
    [".", "."],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["93.184.216.34", "93.184.216.34"],
    ["2606:2800:220:1:248:1893:25c8:1946", "2606:2800:220:1"],
    ["2606:2800:220:1::", "2606:2800:220:1"],
  ])("is for %s: %s", (host, key) => {
    expect(targetKey(host)).toBe(key);
  });
});
