import { expect, it } from "vitest";
import { startControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { openOldDatabase } from "#test/support/old-database.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

it("a service that upgrades its database is alive, says how far it is, refuses requests, and then serves", async () => {
  const old = await stopAfterAll(openOldDatabase("presence-changes"));
  const free = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  const holder = old.sql.begin(async (tx) => {
    await tx`lock table replicas`;
    held.resolve(undefined);
    await free.promise;
  });
  await held.promise;
  const ports = { http: await freePort(), grpc: await freePort() };
  const starting = startControlPlaneProcess(old.url, { ports });
  const ask = async (path: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await fetch(`http://127.0.0.1:${ports.http}${path}`).catch(() => null);
    return response === null ? { status: 0, body: null } : { status: response.status, body: await response.json() };
  };
  await expect
    .poll(() => ask("/readyz"))
    .toEqual({
      status: 503,
      body: {
        status: "unavailable",
        failing: ["migrations"],
        upgrade: { migration: "0061-presence-changes.sql", left: expect.any(Number), rows: null, table_rows: null },
      },
    });
  expect(await ask("/healthz")).toEqual({ status: 200, body: { status: "upgrading" } });
  expect(await ask("/api/v4/tools")).toMatchObject({ status: 503, body: { error: { code: "service_unavailable" } } });
  free.resolve(undefined);
  await holder;
  const plane = await starting;
  expect(await ask("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
  expect(await plane.end("SIGTERM")).toBe(0);
});
