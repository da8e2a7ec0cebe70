import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { spawnAgent, startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { makeJoinToken } from "#test/support/enrol.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

/** For calls that count against a key. */
const SETTLES = { interval: 250 };
/** Loopback addresses in place of the public internet, and of a network that only the private agent reaches. */
const PUBLIC = "127.0.0.1";
const INSIDE = "127.0.0.2";

let plane: TestControlPlane;
let key: string;
let site: HttpServer;
let inside: HttpServer;
let agents: AgentProcess[];
/** Answers of the site to its next requests; after the last one it redirects into the private network. */
let codes: number[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  const made = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
  const created = made.body.data as { key: string; account_id: number };
  key = created.key;
  inside = await startHttpServer({ host: INSIDE });
  site = await startHttpServer({
    handler: (_request, response) => {
      const code = codes.shift();
      if (code === undefined) response.writeHead(307, { location: `${inside.url}/_shutdown` }).end();
      else response.writeHead(code).end();
      return true;
    },
  });
  const token = await makeJoinToken(plane, { region: "office", account_id: created.account_id });
  const office = spawnAgent({
    VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
    VANTAGE_JOIN_TOKEN: token,
    VANTAGE_REGION: "office",
    VANTAGE_ALLOW_TARGETS: `${PUBLIC}/32,${INSIDE}/32`,
  });
  agents = [await startAgent(plane, "eu-west", { VANTAGE_ALLOW_TARGETS: `${PUBLIC}/32` }), office];
  await office.says('"attached"');
});

afterEach(() => {
  codes = [];
});

afterAll(async () => {
  await Promise.all((agents ?? []).map((agent) => agent.stop()));
  await plane?.stop();
  await Promise.all([site?.close(), inside?.close()]);
});

/** Makes a monitor that posts to the site from a shared location, waits until it is down, and for its evidence. */
async function breakFrom(locations: readonly string[]) {
  const settings = { method: "POST", body: "now", request_headers: { "X-Token": "hunter2" }, retries: 0 };
  const { id } = await createMonitor(plane, key, { url: `${site.url}/`, interval_minutes: 60, locations, ...settings });
  const find = async () => {
    const [newest] = (await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key })).body.data as { id: number }[];
    if (newest === undefined) return undefined;
    return (await plane.call(`/api/v4/incidents?id=${newest.id}`, { key })).body.data as Incident;
  };
  await expect.poll(async () => (await find())?.evidence ?? null, SETTLES).not.toBeNull();
  return (await find()) as Incident;
}

interface Incident {
  readonly cause: { readonly code: string };
  readonly evidence: { readonly failing: { readonly location: string }; readonly healthy: unknown };
}

describe("the request of a monitor with public locations alone", () => {
  it("does not reach the network of the account's private agent, because a refused target is asked nowhere else", async () => {
    const { cause, evidence } = await breakFrom(["eu-west"]);
    expect(cause.code).toBe("connect_target_not_allowed");
    expect(evidence).toMatchObject({ failing: { location: "eu-west" }, healthy: null });
    expect(inside.requests).toEqual([]);
  });

  it("does not reach it either if the target begins to redirect after the outage was confirmed", async () => {
    codes = [500];
    const { cause, evidence } = await breakFrom(["eu-west"]);
    expect(cause.code).toBe("http_status");
    expect(evidence).toMatchObject({ failing: { location: "eu-west" }, healthy: null });
    expect(inside.requests).toEqual([]);
  });
});
