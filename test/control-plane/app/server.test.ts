import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { pino } from "pino";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openReplica } from "#control-plane/app/replica.ts";
import { readConfig, type Config } from "#control-plane/core/config.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { serve } from "#control-plane/app/server.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

let database: TestDatabase;
let sql: postgres.Sql;
let http: number;
let grpc: number;

/** Intervals that were started since the last test began and are not cleared. */
const intervals = new Set<NodeJS.Timeout>();

beforeAll(async () => {
  const start = globalThis.setInterval;
  const clear = globalThis.clearInterval;
  vi.spyOn(globalThis, "setInterval").mockImplementation((...args: Parameters<typeof start>) => {
    const timer = start(...args);
    intervals.add(timer);
    return timer;
  });
  vi.spyOn(globalThis, "clearInterval").mockImplementation((timer) => {
    intervals.delete(timer as NodeJS.Timeout);
    clear(timer);
  });
  database = await createTestDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { application_name: "the test's own" } });
});

afterAll(async () => {
  vi.restoreAllMocks();
  await sql.end();
  await database.drop();
});

beforeEach(async () => {
  intervals.clear();
  [http, grpc] = [await freePort(), await freePort()];
});

/** Opens an app and serves it. Returns the error of a rejection, or null if it served and was stopped. */
async function serveOnce(config: Partial<Config> = {}): Promise<unknown> {
  const read = readConfig({ DATABASE_URL: database.url });
  if (!read.ok) throw new Error(read.line);
  const listeners = { http: { host: "127.0.0.1", port: http }, grpc: { host: "127.0.0.1", port: grpc } };
  const app = await openReplica({
    config: { ...read.config, ...listeners, ...config },
    adminToken: "operator-token-of-the-tests-0123456789",
    masterKey: MASTER_KEY,
    plans: BUILT_IN_PLANS,
    hostClock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
  });
  try {
    const service = await serve(app, { version: "0.0.0-test", homepage: "https://vantage.example", root: ROOT });
    await service.stop();
    return null;
  } catch (error) {
    return error;
  } finally {
    await app.close();
  }
}

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Returns the names of the open database connections except the test's own. */
async function openConnections(): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  return rows.map(({ name }) => name);
}

async function expectNothingOpen(ports: readonly number[]): Promise<void> {
  for (const port of ports) (await listenOn(port)).close();
  // The backend of a closed client takes a moment to exit.
  await expect.poll(openConnections).toEqual([]);
  expect(Array.from(intervals, (timer) => timer.hasRef())).toEqual([]);
}

describe("a control plane that fails to open", () => {
  it("leaves nothing open when its HTTP port is in use", async () => {
    const other = await listenOn(http);
    expect(await serveOnce()).toMatchObject({ code: "EADDRINUSE" });
    other.close();
    await expectNothingOpen([http, grpc]);
  });

  it("leaves nothing open when its port for agents is in use", async () => {
    const other = await listenOn(grpc);
    expect(await serveOnce()).toMatchObject({ code: "EADDRINUSE" });
    other.close();
    await expectNothingOpen([http, grpc]);
  });

  it("leaves nothing open when its certificate cannot be read", async () => {
    const tls = { certFile: "/nonexistent/cert.pem", keyFile: "/nonexistent/key.pem" };
    expect(await serveOnce({ tls })).toMatchObject({ code: "ENOENT" });
    await expectNothingOpen([http, grpc]);
  });

  it("leaves nothing open when the queues cannot be opened", async () => {
    await sql`alter table pgboss.queue rename to put_aside`;
    expect(await serveOnce()).toBeInstanceOf(Error);
    await sql`alter table pgboss.put_aside rename to queue`;
    await expectNothingOpen([http, grpc]);
  });

  it("leaves nothing open when the authority cannot be read", async () => {
    await sql`alter table authority rename to put_aside`;
    expect(await serveOnce()).toBeInstanceOf(Error);
    await sql`alter table put_aside rename to authority`;
    await expectNothingOpen([http, grpc]);
  });
});

describe("a control plane that stops", () => {
  it("leaves nothing open", async () => {
    expect(await serveOnce()).toBeNull();
    await expectNothingOpen([http, grpc]);
  });
});

describe("the log of a start", () => {
  it("has no password of a mail server", async () => {
    const mail = { VANTAGE_SMTP_URL: "smtp://user:hunter2@mail.example", VANTAGE_MAIL_FROM: "a@mail.example" };
    const started = await startControlPlaneProcess(database.url, { settings: mail });
    expect(await started.end("SIGTERM")).toBe(0);
    expect(started.log()).not.toBe("");
    expect(started.log()).not.toContain("hunter2");
  });
});
