import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Transaction } from "#control-plane/core/database/connect.ts";
import { isLeftByLostConnection } from "#control-plane/core/database/lost-connection.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { startFaultyProxy, type FaultyProxy } from "#test/support/faulty-proxy.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

describe("a control plane whose database connections are reset in the middle of transactions", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let proxy: FaultyProxy;
  let replica: ControlPlaneProcess;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await startFaultyProxy(Number(url.port));
    url.port = String(proxy.port);
    replica = await startControlPlaneProcess(url.href, { settings: { VANTAGE_LOG_LEVEL: "debug" } });
    key = await replica.createKey();
  });
  afterAll(async () => {
    await replica?.end("SIGTERM");
    proxy?.close();
    await database?.drop();
  });

  const call = (init: object = {}) =>
    fetch(`${replica.url}/api/v4/maintenance`, {
      ...init,
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
    }).then(({ status }) => status);

  it("goes on, and serves the next requests", async () => {
    const blocker = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 30_000 });
    for (const how of ["end", "reset", "end"] as const) {
      await expect.poll(call).toBe(200);
      const writing = await transact(blocker, async (tx) => {
        // Transactions that write wait here, with a statement under way.
        await tx`lock table maintenance in exclusive mode`;
        const title = "Upgrade";
        const body = JSON.stringify({
          title,
          tags: ["web"],
          starts_at: "2031-01-01T00:00:00Z",
          ends_at: "2031-01-01T01:00:00Z",
        });
        const writes = [1, 2, 3].map(() => call({ method: "POST", body }));
        await expect.poll(() => countWaiting(tx)).toBeGreaterThan(0);
        proxy.breakAll(how);
        return writes;
      });
      // One that begins after the break finds a new connection.
      const statuses = await Promise.all(writing);
      expect(statuses.filter((status) => status !== 201)).toContain(503);
      expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    }
    await blocker.end();
    expect(replica.log()).toContain("reading 'write'");
    await expect.poll(call).toBe(200);
    expect(await call({ method: "DELETE" })).toBe(400);
  });
});

async function countWaiting(tx: Transaction): Promise<number> {
  const rows = await tx`select from pg_locks where not granted and relation = 'maintenance'::regclass`;
  return rows.length;
}

describe("an error that nothing catches", () => {
  it("is taken for that of the library if the library's own first statement failed for lack of a connection", () => {
    const query = "select b.oid from a left join pg_catalog.pg_type b on b.oid = a.typelem";
    const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    expect(isLeftByLostConnection(Object.assign(lost, { query }))).toBe(true);
    expect(isLeftByLostConnection(Object.assign(lost, { query: "select 1" }))).toBe(false);
    expect(isLeftByLostConnection(Object.assign(new Error("syntax"), { code: "42601", query }))).toBe(false);
  });

  it.each([
    new TypeError("Cannot read properties of null (reading 'write')"),
    new TypeError("Cannot read properties of undefined (reading 'write')"),
    new Error("Cannot read properties of null (reading 'write')"),
    "Cannot read properties of null (reading 'write')",
    null,
  ])("is not taken for that of the library: %s", (error) => {
    expect(isLeftByLostConnection(error)).toBe(false);
  });
});
