import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { dayOf, nameOf, planPartitions } from "#control-plane/core/database/partitions/days.ts";
import { keepPartitions } from "#control-plane/core/database/partitions/upkeep.ts";
import { CHECKS } from "#control-plane/outages/history/history.ts";
import { DAY_MS, HOUR_MS } from "#control-plane/outages/history/period.ts";
import { createHistoryDatabase, type HistoryDatabase } from "#test/support/history.ts";

const DAY = Date.parse("2026-03-28T00:00:00Z");
const KEPT = 90 * DAY_MS;
const days = (...counts: number[]) => counts.map((count) => DAY + count * DAY_MS);

describe("the plan of partitions", () => {
  it("has yesterday, today and the next three days", () => {
    expect(planPartitions([], [], DAY + HOUR_MS, KEPT).create).toEqual(days(-1, 0, 1, 2, 3));
  });

  it("creates only what is missing", () => {
    expect(planPartitions(days(-1, 0, 1, 2), [], DAY, KEPT)).toEqual({ create: days(3), drop: [] });
  });

  it("has the days of waiting checks, but not those before the retention or far ahead", () => {
    const plan = planPartitions(days(-1, 0, 1, 2, 3), days(-91, -90, -5, 4), DAY, KEPT);
    expect(plan.create).toEqual(days(-90, -5));
  });

  it("drops a day when all of it is older than the retention", () => {
    expect(planPartitions(days(-91, -90), [], DAY + 1, KEPT).drop).toEqual(days(-91));
  });

  it("keeps today with a retention of a moment", () => {
    expect(planPartitions(days(-1, 0), [], DAY + HOUR_MS, 1)).toEqual({ create: days(1, 2, 3), drop: days(-1) });
  });

  it("names partitions by their day in UTC", () => {
    expect(nameOf(CHECKS, DAY)).toBe("checks_20260328");
    expect(dayOf(CHECKS, "checks_20260328")).toBe(DAY);
    expect(dayOf(CHECKS, "checks_default")).toBeNull();
    expect(dayOf(CHECKS, "checks_20269999")).toBeNull();
    expect(dayOf(CHECKS, "check_days_20260328")).toBeNull();
  });
});

describe("partitions in PostgreSQL", () => {
  let database: HistoryDatabase;

  beforeAll(async () => {
    database = await createHistoryDatabase();
  });
  afterEach(() => database.clear());
  afterAll(() => database?.close());

  /** Counts checks by partition. */
  async function countByPartition(): Promise<Record<string, number>> {
    const rows = await database.sql<{ name: string; count: number }[]>`
      select tableoid::regclass::text as name, count(*)::integer as count from checks group by 1`;
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }

  async function names(): Promise<readonly string[]> {
    const rows = await database.sql<{ name: string }[]>`
      select relname as name from pg_class where relname ~ '^checks_[0-9]+$' order by 1`;
    return rows.map(({ name }) => name);
  }

  it("divide checks at midnight UTC, whatever the zone of the session, on days with a change of the clocks too", async () => {
    const berlin = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 10_000 });
    await berlin`set timezone = 'Europe/Berlin'`;
    await keepPartitions(berlin, CHECKS, new Date(DAY), KEPT);
    await berlin.end();
    const midnight = DAY + DAY_MS;
    await database.addChecks([midnight - 1, midnight, midnight + DAY_MS - 1].map((at) => ({ monitorId: 1, at })));
    expect(await countByPartition()).toEqual({ checks_20260328: 1, checks_20260329: 2 });
  });

  it("lose no check while one is missing, and receive it when they are created", async () => {
    const at = DAY + 10 * DAY_MS;
    await keepPartitions(database.sql, CHECKS, new Date(DAY), KEPT);
    await database.addChecks([0, 1, DAY_MS].map((offset) => ({ monitorId: 1, at: at + offset })));
    expect(await countByPartition()).toEqual({ checks_default: 3 });
    await keepPartitions(database.sql, CHECKS, new Date(at), KEPT);
    expect(await countByPartition()).toEqual({ checks_20260407: 2, checks_20260408: 1 });
  });

  it("are dropped after the retention, waiting checks too", async () => {
    await keepPartitions(database.sql, CHECKS, new Date(DAY), KEPT);
    await database.addChecks([DAY, DAY + DAY_MS, DAY - 20 * DAY_MS].map((at) => ({ monitorId: 1, at })));
    await keepPartitions(database.sql, CHECKS, new Date(DAY + DAY_MS + 1), DAY_MS);
    expect(await countByPartition()).toEqual({ checks_20260328: 1, checks_20260329: 1 });
    await keepPartitions(database.sql, CHECKS, new Date(DAY + 2 * DAY_MS), DAY_MS);
    expect(await countByPartition()).toEqual({ checks_20260329: 1 });
    expect(await names()).not.toContain("checks_20260328");
  });

  it("that were detached before a crash are dropped in the next round", async () => {
    await keepPartitions(database.sql, CHECKS, new Date(DAY), KEPT);
    await database.sql`alter table checks detach partition checks_20260328`;
    await keepPartitions(database.sql, CHECKS, new Date(DAY + 5 * DAY_MS), DAY_MS);
    expect(await names()).not.toContain("checks_20260328");
  });

  it("are created once by two replicas at the same time, while checks arrive without a failure", async () => {
    const created = new AbortController();
    let written = 0;
    const write = async (): Promise<void> => {
      while (!created.signal.aborted) {
        written += 1;
        await database.addChecks([{ monitorId: written, at: DAY + written }]);
      }
    };
    const writers = Promise.all([write(), write(), write()]);
    const replicas = [1, 2].map(() =>
      connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 10_000 }),
    );
    try {
      await Promise.all(replicas.map((sql) => keepPartitions(sql, CHECKS, new Date(DAY), KEPT)));
    } finally {
      created.abort();
      await writers;
      await Promise.all(replicas.map((sql) => sql.end()));
    }
    await keepPartitions(database.sql, CHECKS, new Date(DAY), KEPT);
    expect(await countByPartition()).toEqual({ checks_20260328: written });
    expect(await names()).toHaveLength(5);
  });

  it("have the indexes of the table", async () => {
    await keepPartitions(database.sql, CHECKS, new Date(DAY), KEPT);
    const definitions = async (table: string) => {
      const rows = await database.sql<{ indexdef: string }[]>`
        select indexdef from pg_indexes where tablename = ${table} order by indexdef`;
      return rows.map(({ indexdef }) => indexdef.slice(indexdef.indexOf(" USING ")));
    };
    const whole = await definitions("checks");
    expect(whole).toHaveLength(2);
    expect((await definitions("checks_20260328")).toSorted()).toEqual(whole.toSorted());
  });
});
