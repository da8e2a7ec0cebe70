import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

let database: TestDatabase;
let site: HttpServer;
const planes: ControlPlaneProcess[] = [];
const agents: AgentProcess[] = [];
let released = false;

beforeAll(async () => {
  database = await createTestDatabase();
  // Half of the pages answer immediately, the others only after the first replica is gone.
  site = await startHttpServer({
    handler: (_request, response, { path }) => {
      if (!path.startsWith("/later/")) return false;
      const wait = setInterval(() => {
        if (!released) return;
        clearInterval(wait);
        response.end("now\n");
      }, 50);
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

it("continues after a kill -9: another replica checks what has no result, and nothing twice", async () => {
  const first = await start();
  const key = await first.createKey();
  const urls = Array.from({ length: 20 }, (_, n) => `${site.url}/${n % 2 === 0 ? "bytes" : "later"}/${n + 1}`);
  const { body } = await first.call("/api/v4/batch", { key, body: { urls } });
  const { poll_url: path } = body.data as { poll_url: string };
  const read = async (plane: ControlPlaneProcess) =>
    (await plane.call(path, { key })).body.data as { status: string; completed: number; results: { status: string }[] };
  await expect.poll(async () => (await read(first)).completed, { interval: 100 }).toBe(10);
  await first.end("SIGKILL");
  released = true;
  const quickOnes = () => site.requests.filter((request) => request.path.startsWith("/bytes/")).length;
  expect(quickOnes()).toBe(10);
  const second = await start();
  await expect.poll(async () => (await read(second)).status, { interval: 300 }).toBe("completed");
  const job = await read(second);
  expect(job.results.map(({ status }) => status)).toEqual(urls.map(() => "ok"));
  expect(quickOnes()).toBe(10);
});
