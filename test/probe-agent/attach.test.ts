import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listenGrpc, type GrpcListener } from "#control-plane/dispatch/grpc.ts";
import { createHub, type Hub } from "#control-plane/dispatch/hub.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";

const log = pino({ level: "silent" });
let hub: Hub;
let listener: GrpcListener;
let agent: AgentProcess;

beforeEach(async () => {
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  listener = await listenGrpc(hub, { host: "127.0.0.1", port: 0 }, log);
  agent = await startAgent(listener.port, "eu-west", { VANTAGE_MAX_JOBS: "2" });
});

afterEach(async () => {
  await agent.stop();
  hub.stop();
  await listener.stop();
});

function session() {
  const [only] = hub.roster.sessions();
  if (only === undefined) throw new Error("no agent is attached");
  return only;
}

it("tells who it is, what it may reach and how much it takes at once", () => {
  const { agent: info } = session();
  expect(info.id).toMatch(/^agt-[0-9a-f]{16}$/);
  expect(info.place).toMatchObject({ region: "eu-west", country: null, asn: null });
  expect(info.egress.allowsAddress("127.0.0.1")).toBe(true);
  expect(info.egress.allowsAddress("10.0.0.1")).toBe(false);
  expect(info.credits).toBe(2);
});

it("sends a job it does not know to somebody else", async () => {
  const pick = (excluded: ReadonlySet<string>) => (excluded.size === 0 ? session().agent.id : null);
  const answer = await hub.run({ tool: "no-such-tool", params: "{}", deadlineMs: 5_000, pick });
  expect(answer).toEqual({ kind: "unavailable", reason: "no_probe" });
});

it("finishes and goes when it is told to drain", async () => {
  session().link.send({ body: { $case: "drain", value: {} } });
  expect(await agent.exited).toBe(0);
  expect(agent.log()).toContain("agent draining");
});
