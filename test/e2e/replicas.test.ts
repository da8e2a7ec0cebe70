import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { HubMessage } from "#shared/protocol/probe.ts";
import { startTcpProxy, type TcpProxy } from "#test/servers/tcp-proxy.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol, type AgentIdentity } from "#test/support/enrol.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";

/** For calls that count against a key. */
const SLOWLY = { interval: 500 };

const linesOfOne: string[] = [];
const linesOfTwo: string[] = [];
const keepLines = (lines: string[]) => pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
let one: TestControlPlane;
let two: TestControlPlane;
/** Between the second replica and the database. */
let proxy: TcpProxy;
let key: string;
let agents: ScriptedAgent[] = [];
/** One enrolled agent for each region that a test has used. */
const identities = new Map<string, AgentIdentity>();

beforeAll(async () => {
  one = await startControlPlane({ config: { grpcAdvertise: "one.example:50051" }, log: keepLines(linesOfOne) });
  const url = new URL(one.databaseUrl);
  proxy = await startTcpProxy(Number(url.port));
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  two = await startControlPlane({ databaseUrl: url.href, log: keepLines(linesOfTwo) });
  key = await one.createKey();
});

afterEach(async () => {
  for (const agent of agents) agent.cut();
  agents = [];
  await untilNoneIsOnline();
});

afterAll(async () => {
  await two?.stop();
  await proxy?.close();
  await one?.stop();
});

async function untilNoneIsOnline(): Promise<void> {
  const online = async () =>
    [...(await listRegions(one)), ...(await listRegions(two))].filter((region) => region.online > 0);
  await expect.poll(online, SLOWLY).toEqual([]);
}

interface Probe {
  readonly id: string;
  readonly region: string;
  readonly status: string;
  readonly replicas: readonly string[];
}

/** Returns the operator's list without the time of the last message, which may change between two calls. */
async function listProbes(plane: TestControlPlane, query = ""): Promise<readonly Probe[]> {
  const { body } = await plane.operate("GET", `/api/admin/probes${query}`);
  return (body.data as Probe[]).map((row) => ({ ...row, last_seen_at: "some time" }));
}

async function listRegions(
  plane: TestControlPlane,
  withKey = key,
): Promise<readonly { region: string; online: number }[]> {
  return (await plane.call("/api/v4/probes", { key: withKey })).body["data"]["regions"];
}

async function identityIn(region: string): Promise<AgentIdentity> {
  const identity = identities.get(region) ?? (await enrol(one, region));
  identities.set(region, identity);
  return identity;
}

/** Returns the id of the agent enrolled in a region. */
const idIn = (region: string): string => identities.get(region)?.agentId ?? "";

/** Attaches the region's agent, which sends heartbeats until its stream ends. */
async function attach(plane: TestControlPlane, region: string): Promise<ScriptedAgent> {
  const own = await identityIn(region);
  const hello = helloOf(region, { agentId: own.agentId, capabilities: ["icmp4"] });
  const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
  agents.push(agent);
  const beat = { running: 0, credits: 10, loopLagMs: 0, waiting: 0 };
  const beats = setInterval(() => agent.send({ body: { $case: "beat", value: beat } }), 1_000);
  void agent.ended.then(() => clearInterval(beats));
  return agent;
}

/** Returns the addresses of the replicas in the hub's last list to an agent. */
function listedReplicas(messages: readonly HubMessage[]): readonly string[] {
  const lists = messages.flatMap(({ body }) =>
    body?.$case === "welcome" ? [body.value.replicas] : body?.$case === "replicas" ? [body.value] : [],
  );
  return (lists.at(-1)?.replicas ?? []).map(({ address }) => address).toSorted();
}

describe("two replicas on one database", () => {
  it("list the same probes, whichever is asked and wherever they are attached", async () => {
    await attach(one, "eu-west");
    await attach(one, "us-east");
    await attach(two, "us-east");
    await identityIn("ap-south");
    const statuses = async (plane: TestControlPlane) =>
      (await listProbes(plane)).map(({ region, status, replicas }) => `${region} ${status} ${replicas.length}`);
    const expected = ["ap-south offline 0", "eu-west online 1", "us-east online 2"];
    await expect.poll(() => statuses(one)).toEqual(expected);
    await expect.poll(() => statuses(two)).toEqual(expected);
    expect(await listProbes(one)).toEqual(await listProbes(two));
    expect(await listProbes(two, "?status=offline")).toMatchObject([{ id: idIn("ap-south") }]);
    for (const plane of [one, two]) {
      await expect
        .poll(() => listRegions(plane), SLOWLY)
        .toMatchObject([
          { region: "ap-south", online: 0, capabilities: [] },
          { region: "eu-west", online: 1, capabilities: ["icmp4"] },
          { region: "us-east", online: 1 },
        ]);
    }
  });

  it("return one probe by its id, and 404 if there is none", async () => {
    await attach(one, "eu-west");
    const { body } = await two.operate("GET", `/api/admin/probes?id=${idIn("eu-west")}`);
    expect(body.data).toMatchObject({ id: idIn("eu-west"), region: "eu-west", account_id: null });
    const none = await two.operate("GET", "/api/admin/probes?id=agent-unheard-of");
    expect([none.status, none.body.error]).toMatchObject([404, { code: "not_found" }]);
  });

  it("return Prometheus its targets in the format that it requires", async () => {
    await attach(one, "eu-west");
    const { headers, text } = await two.operate("GET", "/api/admin/sd/probes");
    // Prometheus accepts no other (discovery/http, matchContentType).
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    const groups = JSON.parse(text) as { targets: string[]; labels: Record<string, string> }[];
    expect(groups.map(({ labels }) => labels["__meta_vantage_region"])).toEqual(["ap-south", "eu-west", "us-east"]);
    expect(groups[1]).toMatchObject({
      targets: [expect.stringMatching(/^localhost:\d+$/)],
      labels: { __scheme__: "http", __metrics_path__: "/api/v4/probe", __meta_vantage_capability_icmp4: "true" },
    });
    expect(groups.flatMap(({ labels }) => Object.values(labels)).every((value) => typeof value === "string")).toBe(
      true,
    );
    const revoked = await two.operate("GET", "/api/admin/sd/probes?status=revoked");
    expect(revoked.text).toBe("[]");
    expect((await two.call("/api/admin/sd/probes")).status).toBe(401);
    expect((await two.operate("GET", "/api/admin/sd/probes?status=broken")).body.error).toMatchObject({
      code: "missing_parameter",
      field: "status",
    });
  });

  it("return the operator's decisions about a probe", async () => {
    const [disabled, revoked] = [await enrol(one, "ap-east"), await enrol(one, "ap-east")];
    await one.operate("PUT", `/api/admin/probes?id=${disabled.agentId}`, { enabled: false });
    await one.operate("DELETE", `/api/admin/probes?id=${revoked.agentId}`);
    const shown = (await listProbes(two)).filter(({ region }) => region === "ap-east");
    expect(new Map(shown.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [disabled.agentId, "disabled"],
        [revoked.agentId, "revoked"],
      ]),
    );
    const { text } = await two.operate("GET", "/api/admin/sd/probes");
    expect(text).toContain(disabled.agentId);
    expect(text).not.toContain(revoked.agentId);
  });

  it("show a private probe only to its account", async () => {
    const stranger = await two.createKey();
    const { body } = await one.operate("POST", "/api/admin/keys", { plan: "pro" });
    const own = body.data as { key: string; account_id: number };
    const { agentId } = await enrol(one, "home", { account_id: own.account_id });
    const names = async (withKey: string) => (await listRegions(two, withKey)).map(({ region }) => region);
    await expect.poll(() => names(own.key), SLOWLY).toContain("home");
    expect(await names(stranger)).not.toContain("home");
    const shown = await one.operate("GET", `/api/admin/probes?id=${agentId}`);
    expect(shown.body.data).toMatchObject({ account_id: own.account_id, status: "offline", last_seen_at: null });
  });

  it("redirect a caller whose agent is attached to the other one", async () => {
    await attach(one, "eu-west");
    await expect
      .poll(() => listRegions(two), SLOWLY)
      .toContainEqual(expect.objectContaining({ region: "eu-west", online: 1 }));
    const { status, body } = await two.call("/api/v4/dns?domain=example.com&locations=eu-west", { key });
    expect([status, body.error]).toMatchObject([503, { code: "probe_unavailable", retry_after_seconds: 1 }]);
    const nobody = await two.call("/api/v4/dns?domain=example.com&locations=ap-south", { key });
    expect(nobody.status).toBe(503);
    expect(nobody.body.error).not.toHaveProperty("retry_after_seconds");
  });

  it("list each other to the agents, and a third one while it lives", async () => {
    const agent = await attach(two, "eu-west");
    expect(listedReplicas(agent.messages)).toEqual(["", "one.example:50051"]);
    const third = await startControlPlane({
      databaseUrl: one.databaseUrl,
      config: { grpcAdvertise: "three.example:50051" },
    });
    await expect.poll(() => listedReplicas(agent.messages)).toEqual(["", "one.example:50051", "three.example:50051"]);
    await third.stop();
    await expect.poll(() => listedReplicas(agent.messages)).toEqual(["", "one.example:50051"]);
  });

  it("report that one of them advertises no address, in /readyz and in both logs", async () => {
    // Without an agent, a replica is not ready for its first 30 s.
    await attach(one, "eu-west");
    await attach(two, "eu-west");
    for (const plane of [one, two]) {
      await expect
        .poll(async () => (await plane.call("/readyz")).body, SLOWLY)
        .toMatchObject({ status: "ready", degraded: expect.arrayContaining(["grpc_advertise"]) });
    }
    for (const lines of [linesOfOne, linesOfTwo]) {
      await expect.poll(() => lines.filter((line) => line.includes("VANTAGE_GRPC_ADVERTISE")).length).toBe(1);
    }
  });

  it("notice a replica that disappears without notice, and its agents", async () => {
    const held = async () => (await listProbes(one, "?status=online")).flatMap((probe) => probe.replicas);
    await attach(two, "eu-west");
    await expect.poll(held).toHaveLength(1);
    await proxy.cut();
    await expect.poll(held).toEqual([]);
    await expect
      .poll(() => listRegions(one), SLOWLY)
      .toContainEqual(expect.objectContaining({ region: "eu-west", online: 0 }));
    // It was only disconnected: its agent is still there, and it registers both again.
    await proxy.restore();
    await expect.poll(held).toHaveLength(1);
    await expect
      .poll(() => listRegions(one), SLOWLY)
      .toContainEqual(expect.objectContaining({ region: "eu-west", online: 1 }));
  });
});
