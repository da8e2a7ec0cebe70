import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };

let plane: TestControlPlane;
let agent: AgentProcess;
let sql: Sql;
let key: string;
let site: Server;
let host: string;
let isRouterUp = true;
let isShopUp = true;

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey("captain");
  agent = await startAgent(plane, "eu-west");
  sql = connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 });
  site = createServer((request, response) => {
    const isUp = request.url === "/router" ? isRouterUp : isShopUp;
    response.writeHead(isUp ? 200 : 503).end("Welcome");
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  host = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await agent?.stop();
  site?.close();
  await sql?.end();
  await plane?.stop();
});

const create = async (body: object) =>
  (await createMonitor(plane, key, { interval_minutes: 1, locations: ["eu-west"], ...body })).id;

async function statusOf(id: number): Promise<string> {
  return ((await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data as { status: string }).status;
}

async function incidentOf(id: number): Promise<{ readonly suppressed_by: number | null }> {
  return ((await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data as never[])[0] ?? ({} as never);
}

const eventsOf = (id: number) => sql<{ type: string }[]>`
  select type from events where monitor_id = ${id} order by created_at`;

/** Makes the next planned check of a monitor due so many milliseconds from now. */
async function checkIn(id: number, ms: number): Promise<void> {
  const at = new Date(Date.now() + ms);
  await sql`update monitor_slots set planned_at = ${at}, due_at = ${at} where monitor_id = ${id} and lease = 0`;
}

describe("a monitor whose dependency fails a moment after it", () => {
  it("sends no notice of its own, and says what suppressed it", async () => {
    const router = await create({ url: `${host}/router`, name: "Router" });
    const shop = await create({ url: `${host}/shop`, name: "Shop", depends_on: router });
    for (const id of [router, shop]) await expect.poll(() => statusOf(id), SETTLES).toBe("up");
    isRouterUp = false;
    isShopUp = false;
    await checkIn(router, 7_000);
    await checkIn(shop, 0);
    await expect.poll(() => statusOf(shop), SETTLES).toBe("down");
    await expect.poll(() => statusOf(router), SETTLES).toBe("down");
    await expect.poll(async () => (await incidentOf(shop)).suppressed_by, SETTLES).toBe(router);
    expect(await eventsOf(router)).toEqual([{ type: "monitor.down" }]);
    expect(await eventsOf(shop)).toEqual([]);
  });

  it("sends its notice if the dependency turns out to be up", async () => {
    isRouterUp = true;
    isShopUp = true;
    const router = await create({ url: `${host}/router`, name: "Router" });
    const shop = await create({ url: `${host}/shop`, name: "Shop", depends_on: router });
    for (const id of [router, shop]) await expect.poll(() => statusOf(id), SETTLES).toBe("up");
    isShopUp = false;
    await checkIn(router, 7_000);
    await checkIn(shop, 0);
    await expect.poll(() => eventsOf(shop), SETTLES).toEqual([{ type: "monitor.down" }]);
    expect(await statusOf(router)).toBe("up");
    expect((await incidentOf(shop)).suppressed_by).toBeNull();
  });
});
