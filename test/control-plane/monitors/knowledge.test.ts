import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/database/connect.ts";
import { encodeState } from "#control-plane/monitors/state/encoding.ts";
import { NEW_STATE } from "#control-plane/monitors/state/state.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

let plane: TestControlPlane;
let sql: Sql;

beforeAll(async () => {
  plane = await startControlPlane();
  sql = connect(plane.databaseUrl, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
});

afterAll(async () => {
  await sql?.end();
  await plane?.stop();
});

describe("a monitor that was degraded when it was last known", () => {
  it.each([
    ["up", true],
    ["unknown", false],
  ] as const)("and is %s now is shown as degraded: %s", async (status, isShown) => {
    const { key, ids } = await createWatchedAccount(plane, sql, 1, { degraded_ms: 500 });
    const [id = 0] = ids;
    const state = encodeState({ ...NEW_STATE, status, lastKnown: "up", isDegraded: true, slowStreak: 3 });
    await sql`update monitor_states set status = ${status}, state = ${state} where monitor_id = ${id}`;
    const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    expect(body.data).toMatchObject({ status, degraded: isShown });
  });
});
