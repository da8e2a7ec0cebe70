import { randomBytes } from "node:crypto";
import { once, type EventEmitter } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { MAX_MESSAGE_BYTES } from "#shared/protocol/wire.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { JobAnswer } from "#control-plane/checks/dispatch/job.ts";
import { listenForAgents, type HubListener } from "#test/support/agent-listener.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";
import { fetchAuthority } from "#test/support/enrol.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

const log = pino({ level: "silent" });
let hub: Hub;
let server: HubListener;

beforeEach(async () => {
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  server = await listenForAgents(hub, log);
});

afterEach(async () => {
  hub.stop();
  await server.listener.stop();
});

/** Runs a job on the agent of region eu and returns its answer. */
async function runOn(agent: ScriptedAgent): Promise<JobAnswer> {
  const answer = hub.run({ tool: "check", accountId: null, params: "{}", deadlineMs: 240_000, pick: () => "agent-eu" });
  agent.answer(await agent.nextJob(), ok({ fine: true }));
  return answer;
}

it("garbage on the port only ends that connection", async () => {
  const agent = await attachScripted(server, helloOf("eu"));
  for (const bytes of [randomBytes(4_096), Buffer.from("GET / HTTP/1.1\r\n\r\n")]) {
    const socket = connect(server.grpcPort, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(bytes);
    await once(socket, "close");
  }
  expect(await runOn(agent)).toMatchObject({ kind: "outcome", outcome: ok({ fine: true }) });
});

it("an oversized message ends its stream, and the agent's jobs move on", async () => {
  const agent = await attachScripted(server, helloOf("eu"));
  const greedy = await attachScripted(server, helloOf("us"));
  const pick = (excluded: ReadonlySet<string>) => (excluded.has("agent-us") ? "agent-eu" : "agent-us");
  const answer = hub.run({ tool: "check", accountId: null, params: "{}", deadlineMs: 240_000, pick });
  const job = await greedy.nextJob();
  greedy.answer(job, ok({ filler: "x".repeat(MAX_MESSAGE_BYTES) }));
  await greedy.ended;
  agent.answer(await agent.nextJob(), ok({ from: "eu" }));
  expect(await answer).toMatchObject({ kind: "outcome", agentId: "agent-eu", attempt: 2 });
  expect(await runOn(agent)).toMatchObject({ kind: "outcome", outcome: ok({ fine: true }) });
});

it("a stream without a hello, or with another first message, is closed", async () => {
  const authority = await fetchAuthority(server.grpcPort, server.admitAs("agent-eu", "eu"));
  // On separate connections, because a refusal closes the whole connection.
  const clients = [1, 2].map(() => dialProbe(server.grpcPort, clientCredentials(authority)));
  const [mute, impatient] = clients.map((client) => client.attach());
  impatient?.write({ body: { $case: "draining", value: {} } });
  await Promise.all([mute, impatient].map((stream) => once(stream?.resume() as EventEmitter, "end")));
  for (const client of clients) client.close();
  expect(hub.roster.rows()).toEqual([]);
});

it("the listener stops without waiting for connections that do not end, and closes them", async () => {
  const socket = connect({ port: server.grpcPort, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).resume();
  const ended = once(socket, "end");
  await once(socket, "connect");
  await server.listener.stop();
  await ended;
  expect(socket.writable).toBe(true);
  socket.destroy();
});
