import type { Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol, type AgentIdentity } from "#test/support/enrol.ts";
import { openTcp } from "#test/support/raw-session.ts";
import { helloOf, startScriptedAgent } from "#test/support/scripted-agent.ts";

const SOON = { timeout: 10_000, interval: 20 };
const [HTTP, STRANGERS] = [20, 10];
let plane: TestControlPlane;
let own: AgentIdentity;
let held: Socket[] = [];

beforeAll(async () => {
  plane = await startControlPlane({ connections: { http: HTTP, strangers: STRANGERS } });
  own = await enrol(plane, "eu-west");
});
beforeEach(() => {
  for (const socket of held) socket.destroy();
  held = [];
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
  await plane?.stop();
});

/** Opens connections that send nothing and waits until no more than these are left. */
async function fill(port: number, most: number): Promise<void> {
  held.push(...Array.from({ length: 3 * most }, () => openTcp({ port, from: "127.0.0.2" })));
  await expect.poll(() => held.filter((socket) => !socket.destroyed).length, SOON).toBeLessThanOrEqual(most);
}

async function figure(series: string): Promise<number> {
  const line = (await plane.app.metrics.registry.metrics()).split("\n").find((row) => row.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

async function firstWord(): Promise<string | undefined> {
  const hello = helloOf("eu-west", { agentId: own.agentId });
  const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
  agent.cut();
  return agent.messages[0]?.body?.$case;
}

it("strangers who hold all their places at the agents' port keep neither callers nor agents out", async () => {
  await fill(plane.grpcPort, STRANGERS);
  expect(await figure('vantage_agent_connections_ended_total{reason="strangers"}')).toBeGreaterThan(0);
  expect((await plane.call("/healthz")).status).toBe(200);
  // An agent that dials is a stranger until its handshake is done: it takes the place of the one that waits for longest.
  await expect.poll(firstWord, SOON).toBe("welcome");
});

it("callers who hold every HTTP connection do not keep agents out", async () => {
  await fill(Number(new URL(plane.url).port), HTTP);
  expect(await figure("vantage_http_connections_refused_total")).toBeGreaterThan(0);
  expect(await firstWord()).toBe("welcome");
});
