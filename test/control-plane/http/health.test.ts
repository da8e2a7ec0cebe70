import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { call, startGate } from "#test/support/gate.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let agents = 0;
const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));

const database = await stopAfterAll(createTestDatabase());
const gate = await stopAfterAll(startGate({ databaseUrl: database.url, overrides: { clock }, agents: () => agents }));

const ready = async () => {
  // The state of the database is cached for a second.
  clock.advance(1_000);
  const { status, body } = await call(`${gate.url}/readyz`);
  return [status, body];
};

describe("readiness", () => {
  it("waits for the first agent, but at most 30 s", async () => {
    expect(await ready()).toEqual([503, { status: "unavailable", failing: ["agents"] }]);
    clock.advance(30_000);
    expect(await ready()).toEqual([200, { status: "ready", degraded: ["agents"] }]);
    agents = 1;
    expect(await ready()).toEqual([200, { status: "ready", degraded: [] }]);
  });

  it("continues after a later loss of all agents, which is reported", async () => {
    agents = 0;
    expect(await ready()).toEqual([200, { status: "ready", degraded: ["agents"] }]);
    agents = 2;
  });

  it("ends if a migration is missing", async () => {
    await gate.app.sql`update schema_migrations set number = number + 1000`;
    expect(await ready()).toEqual([503, { status: "unavailable", failing: ["database"] }]);
    await gate.app.sql`update schema_migrations set number = number - 1000`;
    expect(await ready()).toEqual([200, { status: "ready", degraded: [] }]);
  });

  it("ends with draining, while the process is alive and requests are answered", async () => {
    gate.app.drain();
    expect(await ready()).toEqual([503, { status: "unavailable", failing: ["draining"] }]);
    expect((await call(`${gate.url}/healthz`)).body).toEqual({ status: "ok" });
    expect((await fetch(`${gate.url}/healthz`, { method: "HEAD" })).status).toBe(200);
    expect((await call(`${gate.url}/healthz`, { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
  });
});
