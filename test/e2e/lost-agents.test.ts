import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let key: string;
let web: HttpServer;
let hanging = 0;
/** Ends the answers to requests of /?held. */
let release = Promise.withResolvers<void>();
let held = 0;
const agents: AgentProcess[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey();
  // The first request never gets an answer; later ones are answered immediately.
  web = await startHttpServer({
    handler: (request, response) => {
      if (request.url === "/?held") {
        held += 1;
        void release.promise.then(() => response.end("held"));
        return true;
      }
      if (request.url !== "/?first-hangs") return false;
      hanging += 1;
      return hanging === 1;
    },
  });
});

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.stop()));
  await untilNoneIsOnline();
  hanging = 0;
});

afterAll(async () => {
  await plane.stop();
  await web.close();
});

/** Not too often: these calls count against the key. */
async function untilNoneIsOnline(): Promise<void> {
  await expect.poll(online, { interval: 500 }).toBe(0);
}

async function online(): Promise<number> {
  const { body } = await plane.call("/api/v4/probes", { key });
  const { regions } = body.data as { regions: { online: number }[] };
  return regions.reduce((sum, region) => sum + region.online, 0);
}

async function start(region: string, settings: Record<string, string> = {}): Promise<AgentProcess> {
  const agent = await startAgent(plane, region, settings);
  agents.push(agent);
  return agent;
}

/** Returns how many jobs were lost with their agents, by the reason of the loss. */
async function losses(): Promise<Readonly<Record<string, number>>> {
  const text = await plane.app.metrics.registry.metrics();
  const found = text.matchAll(/^vantage_lease_losses_total\{reason="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, reason = "", count]) => [reason, Number(count)]));
}

/** Kills the agent that has made the hanging request. */
async function killHolder(): Promise<void> {
  await expect.poll(() => hanging).toBe(1);
  const { body } = await plane.operate("GET", "/api/admin/probes");
  // Of two idle agents, the one with the lower id is selected.
  const [holderId = ""] = (body.data as { id: string; status: string }[])
    .flatMap((row) => (row.status === "online" ? [row.id] : []))
    .toSorted();
  const holder = agents.find((agent) => agent.log().includes(holderId));
  holder?.kill("SIGKILL");
}

describe("an agent that is killed during a job", () => {
  it("is replaced by another of its region because its stream ended, before silence would show the loss", async () => {
    await start("eu-west");
    await start("eu-west");
    const before = await losses();
    const answer = plane.call(`/api/v4/check?url=${web.url}/?first-hangs&locations=eu-west`, { key });
    await killHolder();
    const { status, body } = await answer;
    expect(await losses()).toEqual({ ...before, closed: (before["closed"] ?? 0) + 1 });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ summary: { ok: 1 }, locations: [{ status: "ok", data: { code: 200 } }] });
  });

  it("that was the only one is reported as probe_unavailable because its stream ended", async () => {
    await start("eu-west");
    const before = await losses();
    const answer = plane.call(`/api/v4/check?url=${web.url}/?first-hangs`, { key });
    await killHolder();
    const { status, body } = await answer;
    expect(await losses()).toEqual({ ...before, closed: (before["closed"] ?? 0) + 1 });
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ code: "probe_unavailable" });
  });

  it("is reported as a restart in an event stream", async () => {
    await start("eu-west");
    await start("eu-west");
    const response = fetch(`${plane.url}/api/v4/check?url=${web.url}/?first-hangs`, {
      headers: { "x-api-key": key, accept: "text/event-stream" },
    });
    await killHolder();
    const text = await (await response).text();
    const names = Array.from(text.matchAll(/^event: (\w+)$/gm), ([, name]) => name);
    expect(names).toEqual(["probe", "restart", "probe", "result", "done"]);
    expect(text).toContain('"attempt":2');
  });
});

describe("an agent that receives SIGTERM", () => {
  it("completes its jobs, takes no new ones, and exits with 0", async () => {
    const agent = await start("eu-west");
    release = Promise.withResolvers();
    held = 0;
    const answer = plane.call(`/api/v4/check?url=${web.url}/?held`, { key });
    await expect.poll(() => held).toBe(1);
    agent.kill("SIGTERM");
    await agent.says("agent draining");
    release.resolve();
    expect((await answer).body.data).toMatchObject({ code: 200 });
    expect(await agent.exited).toBe(0);
    const after = await plane.call(`/api/v4/check?url=${web.url}/`, { key });
    expect(after.body.error).toMatchObject({ code: "probe_unavailable", reason: "no_probe" });
  });
});

describe("a control plane that starts again", () => {
  it("has its agents again", async () => {
    const database = await createTestDatabase();
    const first = await startControlPlane({ databaseUrl: database.url });
    const { grpcPort } = first;
    const agent = await startAgent(first, "eu-west");
    await first.stop();
    const config = { grpc: { host: "127.0.0.1", port: grpcPort } };
    const second = await startControlPlane({ config, databaseUrl: database.url });
    try {
      const secondKey = await second.createKey();
      const regions = async () => JSON.stringify((await second.call("/api/v4/probes", { key: secondKey })).body.data);
      await expect.poll(regions).toContain('"online":1');
    } finally {
      await agent.stop();
      await second.stop();
      await database.drop();
    }
  });
});

describe("a caller that disconnects", () => {
  it("cancels the job on the agent", async () => {
    await start("eu-west");
    const before = web.open();
    const caller = new AbortController();
    const answer = plane.call(`/api/v4/check?url=${web.url}/?first-hangs`, { key, signal: caller.signal });
    await expect.poll(() => hanging).toBe(1);
    caller.abort();
    await expect(answer).rejects.toThrow("aborted");
    await expect.poll(() => web.open()).toBe(before);
  });
});
