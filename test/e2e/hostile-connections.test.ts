import type { Socket } from "node:net";
import { afterAll, beforeEach, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol } from "#test/support/enrol.ts";
import { openTcp } from "#test/support/raw-session.ts";
import { helloOf, startScriptedAgent } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const SOON = { interval: 20 };
const [HTTP, STRANGERS] = [20, 10];
let held: Socket[] = [];

const plane = await stopAfterAll(startControlPlane({ connections: { http: HTTP, strangers: STRANGERS } }));
const own = await enrol(plane, "eu-west");
beforeEach(() => {
  for (const socket of held) socket.destroy();
  held = [];
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
});

/** Opens connections that send nothing and waits until at most `most` are left. */
async function fill(port: number, most: number): Promise<void> {
  held.push(...Array.from({ length: 3 * most }, () => openTcp({ port, from: "127.0.0.2" })));
  await expect.poll(() => held.filter((socket) => !socket.destroyed).length, SOON).toBeLessThanOrEqual(most);
}

async function readMetrics(prefix: string): Promise<readonly string[]> {
  return (await plane.app.metrics.registry.metrics()).split("\n").filter((row) => row.startsWith(prefix));
}

async function readMetric(series: string): Promise<number> {
  const [line] = await readMetrics(`${series} `);
  return Number(line?.slice(series.length) ?? 0);
}

/** Returns the kind of the first message that an agent receives; without one, what is known of the end of its stream. */
async function firstMessage(): Promise<string> {
  const hello = helloOf("eu-west", { agentId: own.agentId });
  const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
  const failure = agent.failure();
  agent.cut();
  return agent.messages[0]?.body?.$case ?? [failure, ...(await readMetrics("vantage_agent_connection"))].join("\n");
}

it("unauthenticated clients that fill the agents' port block neither callers nor agents", async () => {
  await fill(plane.grpcPort, STRANGERS);
  expect(await readMetric('vantage_agent_connections_ended_total{reason="strangers"}')).toBeGreaterThan(0);
  expect((await plane.call("/healthz")).status).toBe(200);
  // An agent that dials is unauthenticated until its handshake is complete. It replaces the connection that has waited
  // longest.
  await expect.poll(firstMessage, SOON).toBe("welcome");
});

it("callers that hold every HTTP connection do not block agents", async () => {
  await fill(Number(new URL(plane.url).port), HTTP);
  expect(await readMetric("vantage_http_connections_refused_total")).toBeGreaterThan(0);
  await expect.poll(firstMessage, SOON).toBe("welcome");
});
