import { afterEach, beforeEach, describe, expect, it } from "vitest";
import postgres from "postgres";
import { startTcpProxy, type TcpProxy } from "#test/servers/tcp-proxy.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { call, makeTestKey, startGate, type TestGate } from "#test/support/gate.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

/** Limit of the guarded client in milliseconds. */
const GUARD_MS = 2_000;

let database: TestDatabase;
let proxy: TcpProxy;
let gate: TestGate;
let key: string;

beforeEach(async () => {
  database = await createTestDatabase();
  const direct = new URL(database.url);
  proxy = await startTcpProxy(Number(direct.port));
  direct.hostname = "127.0.0.1";
  direct.port = String(proxy.port);
  gate = await startGate({ databaseUrl: direct.href });
  key = await makeTestKey(gate, { plan: "captain" });
});

afterEach(async () => {
  await proxy.restore();
  await gate.close();
  await proxy.close();
  await database.drop();
});

const whoami = () => call(`${gate.url}/api/v4/whoami`, { key });

async function expectAway(): Promise<void> {
  const { status, body, headers } = await endsBy(GUARD_MS, whoami);
  expect([status, body.error?.code, body.error?.["retry_after_seconds"]]).toEqual([503, "service_unavailable", 1]);
  expect(headers.has("retry-after")).toBe(false);
}

describe("with the database away", () => {
  it("no request passes, even with a cached key, and all works when it is back", async () => {
    expect((await whoami()).status).toBe(200);
    await proxy.cut();
    await expectAway();
    const burst = await Promise.all(Array.from({ length: 20 }, () => whoami()));
    expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([503]));
    expect((await call(`${gate.url}/readyz`)).status).toBe(503);
    expect((await call(`${gate.url}/healthz`)).status).toBe(200);
    // Routes that need no database still answer.
    expect((await call(`${gate.url}/api/v4/nope`)).status).toBe(404);
    expect((await call(`${gate.url}/api/v4/whoami`, { key: "wrong" })).status).toBe(401);
    await proxy.restore();
    await expect.poll(async () => (await whoami()).status).toBe(200);
    await expect.poll(async () => (await call(`${gate.url}/readyz`)).status).toBe(200);
  });

  it("a silent database is also 503", async () => {
    expect((await whoami()).status).toBe(200);
    proxy.freeze();
    await expectAway();
    await expectAway();
    await proxy.restore();
    await expect.poll(async () => (await whoami()).status).toBe(200);
  });

  it("killed backends cause at most an error, and the next request is served", async () => {
    const sql = postgres(database.url, { max: 1 });
    for (let round = 0; round < 3; round += 1) {
      expect((await whoami()).status).toBe(200);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      await expect.poll(async () => (await whoami()).status).toBe(200);
    }
    await sql.end();
  });

  it("a key that was revoked during a loss of notifications is refused when they arrive again", async () => {
    expect((await whoami()).status).toBe(200);
    await proxy.cut();
    const sql = postgres(database.url, { max: 1 });
    await sql`delete from keys`;
    await sql.end();
    await proxy.restore();
    // Forgotten on reconnect, long before the 5 s for which an owner is cached.
    await expect.poll(async () => (await whoami()).status).toBe(401);
  });

  it("the operator's API is also 503", async () => {
    await proxy.cut();
    const answer = await call(`${gate.url}/api/admin/keys`, {
      headers: { authorization: "Bearer operator-token-of-this-test" },
    });
    expect([answer.status, answer.body.error?.code]).toEqual([503, "service_unavailable"]);
  });
});
