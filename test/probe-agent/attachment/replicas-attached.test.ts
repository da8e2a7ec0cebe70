import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "#test/support/free-port.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { heardFrom } from "#test/support/heard-from.ts";

let planes: TestControlPlane[] = [];
let agent: AgentProcess | null = null;
let ends: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  planes = [];
  ends = [];
});
afterEach(async () => {
  await agent?.stop();
  agent = null;
  for (const plane of planes.toReversed()) await plane.stop();
  for (const end of ends) await end();
});

/** Starts a replica. One that advertises reports its own address. */
async function replica(advertises: boolean): Promise<TestControlPlane> {
  const grpc = { host: "127.0.0.1", port: await freePort() };
  const config = { grpc, grpcAdvertise: advertises ? `localhost:${grpc.port}` : null };
  const [first] = planes;
  const plane = await startControlPlane({
    config,
    ...(first === undefined ? {} : { databaseUrl: first.databaseUrl }),
  });
  planes.push(plane);
  return plane;
}

async function attachedTo(plane: TestControlPlane): Promise<number> {
  const { body } = await plane.operate("GET", "/api/admin/probes");
  return (body.data as { replicas: string[] }[])[0]?.replicas.length ?? 0;
}

/** Returns the value of one of the agent's metrics. */
async function readMetric(name: string): Promise<number> {
  const port = /"metrics":(\d+)/.exec(agent?.log() ?? "")?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1],
  );
}

/** The shortest time between two attempts to reach a replica that has no stream yet. */
const HUNT_MS = 1_000;
const METRICS = { VANTAGE_AGENT_METRICS_ADDR: "127.0.0.1:0" };

describe("if replicas advertise their addresses", () => {
  it("an agent that knows one has a stream to each, also to a later one, and leaves one that ends", async () => {
    const first = await replica(true);
    await replica(true);
    agent = await startAgent(first, "eu-west", METRICS);
    await expect.poll(() => attachedTo(first)).toBe(2);
    const third = await replica(true);
    await expect.poll(() => attachedTo(first)).toBe(3);
    planes.splice(planes.indexOf(third), 1);
    await third.stop();
    await expect.poll(() => attachedTo(first)).toBe(2);
    await expect.poll(() => readMetric('vantage_agent_streams{state="standing"}')).toBe(2);
    expect(await readMetric("vantage_agent_credits_granted")).toBe(200);
  });

  it("two addresses of one replica make one stream, and jobs continue undisturbed", async () => {
    const first = await replica(true);
    const key = await first.createKey();
    agent = await startAgent(first, "eu-west", {
      ...METRICS,
      VANTAGE_CONTROL_PLANE: `localhost:${first.grpcPort},127.0.0.1:${first.grpcPort}`,
    });
    const target = await startHttpServer();
    ends.push(() => target.close());
    const answer = await first.call(`/api/v4/ping?host=127.0.0.1&count=8&interval_ms=300`, { key });
    expect(answer.body.data).toMatchObject({ packets_received: 8 });
    await expect.poll(() => readMetric('vantage_agent_streams{state="standing"}')).toBe(1);
    expect(agent.log()).not.toContain("control plane lost");
  });
});

describe("credits", () => {
  it("go to the replica where jobs wait, and none is granted twice", async () => {
    const first = await replica(true);
    await replica(true);
    const key = await first.createKey();
    agent = await startAgent(first, "eu-west", { ...METRICS, VANTAGE_MAX_JOBS: "10" });
    await expect.poll(() => attachedTo(first)).toBe(2);
    const target = await startHttpServer();
    ends.push(() => target.close());
    const calls = Array.from({ length: 12 }, (_, index) =>
      first.call(`/api/v4/check?url=${target.url}/silent?${index}&timeout=5`, { key }),
    );
    // All but the floor that the idle replica keeps.
    await expect.poll(() => readMetric("vantage_agent_jobs_running")).toBe(9);
    expect(await readMetric("vantage_agent_credits_granted")).toBe(10);
    await Promise.all(calls);
  });
});

describe("behind a balancer, without advertised addresses", () => {
  it("an agent dials until it has a stream to each replica", async () => {
    const first = await replica(false);
    const second = await replica(false);
    const third = await replica(false);
    const balancer = await startBalancer([first, second, third].map(({ grpcPort }) => grpcPort));
    ends.push(() => balancer.close());
    agent = await startAgent(first, "eu-west", { ...METRICS, VANTAGE_CONTROL_PLANE: `localhost:${balancer.port}` });
    await expect.poll(() => attachedTo(first)).toBe(3);
    const led = balancer.connections();
    await heardFrom(first, "eu-west", 3 * HUNT_MS);
    expect(balancer.connections()).toBe(led);
    expect(agent.log()).not.toContain("control plane lost");
  });
});

interface Balancer {
  readonly port: number;
  connections(): number;
  close(): Promise<void>;
}

/**
 * Starts a balancer that sends two connections to the first server for each one to the others, because balancers are
 * rarely fair.
 */
async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const turns = ports.flatMap((port) => [ports[0] ?? 0, port]);
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = createServer((client) => {
    const upstream = connect(turns[taken % turns.length] ?? 0, "127.0.0.1");
    taken += 1;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => taken,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
