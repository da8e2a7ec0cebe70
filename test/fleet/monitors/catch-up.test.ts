import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { measureCatchUp, untilAllChecked } from "#test/fleet/monitors/catch-up.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const [UP, UNKNOWN] = [1, 3];

let plane: TestControlPlane;
let sql: Sql;
let ids: readonly number[];
let since: Date;

beforeAll(async () => {
  plane = await startControlPlane();
  sql = connect(plane.databaseUrl, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
  ({ ids } = await createWatchedAccount(plane, sql, 2));
  await sql`delete from monitor_slots where location <> 'eu-west'`;
  since = new Date(Date.now() - 30_000);
});

afterAll(async () => {
  await sql?.end();
  await plane?.stop();
});

/** Writes a further check of a monitor: seconds after the restart at which it began. */
async function again(index: number, began: number) {
  await sql`
    insert into checks (monitor_id, checked_at, location, status, lag_ms, is_recheck, missed)
    values (${ids[index] ?? 0}, ${new Date(since.getTime() + began * 1_000)}, 'eu-west', ${UP}, 0, false, 0)`;
}

/** Writes the only check of a monitor: seconds after the restart at which it began, and seconds that it was late. */
async function check(index: number, { began, late, status = UP }: { began: number; late: number; status?: number }) {
  const at = new Date(since.getTime() + began * 1_000);
  const id = ids[index] ?? 0;
  await sql`delete from checks where monitor_id = ${id}`;
  await sql`
    insert into checks (monitor_id, checked_at, location, status, lag_ms, is_recheck, missed)
    values (${id}, ${at}, 'eu-west', ${status}, ${late * 1_000}, false, 0)`;
  await sql`update monitor_slots set checked_at = ${at} where monitor_id = ${id}`;
}

describe("the measure of a catch-up", () => {
  it.each([
    ["a check that began after one that was due later", { began: 8, late: 90 }, 1],
    ["checks that began together", { began: 2, late: 90 }, 0],
    ["checks in the order of their times", { began: 8, late: 60 }, 0],
  ])("counts %s", async (_what, second, outOfOrder) => {
    await check(0, { began: 1, late: 60 });
    await check(1, second);
    expect(await measureCatchUp(sql, since)).toMatchObject({ scheduleEntries: 2, all: second.began, outOfOrder });
  });

  it("counts a check that began after another monitor was checked for the second time", async () => {
    await check(0, { began: 1, late: 60 });
    await check(1, { began: 9, late: 60 });
    expect(await measureCatchUp(sql, since)).toMatchObject({ overtaken: 0 });
    await again(0, 8);
    expect(await measureCatchUp(sql, since)).toMatchObject({ overtaken: 0 });
    await again(0, 5);
    expect(await measureCatchUp(sql, since)).toMatchObject({ overtaken: 1 });
  });

  it("waits for checks with a verdict, and does not count others", async () => {
    await check(0, { began: 1, late: 60 });
    await check(1, { began: 2, late: 60, status: UNKNOWN });
    expect(await measureCatchUp(sql, since)).toMatchObject({ scheduleEntries: 1 });
    await expect(untilAllChecked(sql, since, 100)).rejects.toThrow("1 schedule entries were not checked");
    await check(1, { began: 3, late: 60 });
    expect(await untilAllChecked(sql, since, 100)).toBe(since.getTime() + 3_000);
  });
});
