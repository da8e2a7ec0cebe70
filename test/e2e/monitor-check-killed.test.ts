import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

let database: TestDatabase;
let site: HttpServer;
const planes: ControlPlaneProcess[] = [];
const agents: AgentProcess[] = [];
let isHanging = true;

beforeAll(async () => {
  database = await createTestDatabase();
  // The first check gets no answer, so that it is in flight when its control plane is killed.
  site = await startHttpServer({
    handler: (_request, response) => {
      if (!isHanging) response.end("ok\n");
      return true;
    },
  });
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.stop()));
  await Promise.all(planes.splice(0).map((plane) => plane.end("SIGKILL")));
});
afterAll(async () => {
  await Promise.all([site?.close(), database?.drop()]);
});

async function start(): Promise<ControlPlaneProcess> {
  const plane = await startControlPlaneProcess(database.url);
  planes.push(plane);
  agents.push(await startAgent(plane, "local"));
  return plane;
}

it("a check that was in flight at a kill -9 is repeated by the next control plane before its claim ends", async () => {
  const first = await start();
  const key = await first.createKey();
  const body = { url: `${site.url}/`, name: "Shop", interval_minutes: 60, timeout_seconds: 30, locations: ["local"] };
  const { id } = (await first.call("/api/v4/monitors", { key, body })).body.data as { id: number };
  await expect.poll(() => site.requests.length).toBe(1);
  await first.end("SIGKILL");
  isHanging = false;
  const second = await start();
  const read = async () =>
    (await second.call(`/api/v4/monitors?id=${id}`, { key })).body.data as { status: string; checks: unknown[] };
  // The claim would have ended 40 s after the first check began.
  await expect.poll(async () => (await read()).status, { interval: 200 }).toBe("up");
  expect(second.log()).toContain("a replica ended during its checks without giving them back");
  expect((await read()).checks).toHaveLength(1);
  expect(site.requests).toHaveLength(2);
});
