import { afterAll, describe, expect, it } from "vitest";
import { startAgent } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol } from "#test/support/enrol.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const first = await stopAfterAll(startControlPlane());
const second = await stopAfterAll(startControlPlane({ databaseUrl: first.databaseUrl }));
const agents: ScriptedAgent[] = [];

afterAll(() => {
  for (const agent of agents) agent.cut();
});

const PATH = "/api/admin/probes/logs";
const logsOf = (id: string, plane: TestControlPlane = first, more = "") =>
  plane.operate("GET", `${PATH}?id=${id}${more}`);

async function refusalOf(asked: ReturnType<typeof logsOf>) {
  const { status, body } = await asked;
  const { code, reason, message } = body.error as Record<string, string>;
  return [status, code, reason, message];
}

/** Attaches a peer to the first replica and returns its id. */
async function attach(region: string, sendsLog: boolean): Promise<[string, ScriptedAgent]> {
  const own = await enrol(first, region);
  const hello = helloOf(region, { agentId: own.agentId, version: "0.0.1", sendsLog });
  const agent = await startScriptedAgent(first.grpcPort, hello, clientCredentials(own.caCertificate, own));
  agents.push(agent);
  return [own.agentId, agent];
}

describe("GET /api/admin/probes/logs", () => {
  it("returns the log of a real agent, enabled or not, and as many lines as are asked for", async () => {
    const agent = await startAgent(first, "eu-west");
    try {
      await agent.says('"agent started"');
      const { body } = await first.operate("GET", "/api/admin/probes");
      const [{ id } = { id: "" }] = body.data as { id: string }[];
      await first.operate("PUT", `/api/admin/probes?id=${id}`, { enabled: false });
      const { lines } = (await logsOf(id)).body.data as { lines: string[] };
      expect(lines).toEqual(agent.log().trimEnd().split("\n"));
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
        expect.arrayContaining(["enrolled", "attached", "agent started"]),
      );
      expect((await logsOf(id, first, "&limit=1")).body.data).toEqual({ id, lines: lines.slice(-1) });
    } finally {
      await agent.stop();
    }
  });

  it("is only for the operator", async () => {
    const key = await first.createKey();
    expect((await first.call(`${PATH}?id=x`, { key })).status).toBe(401);
    expect((await first.call(`${PATH}?id=x`)).status).toBe(401);
  });

  it("refuses unknown and revoked agents, and wrong parameters", async () => {
    expect((await refusalOf(logsOf("agent-unheard-of"))).slice(0, 2)).toEqual([404, "not_found"]);
    const { agentId } = await enrol(first, "eu-west");
    await first.operate("DELETE", `/api/admin/probes?id=${agentId}`);
    expect((await refusalOf(logsOf(agentId))).slice(0, 2)).toEqual([404, "not_found"]);
    for (const more of ["&limit=0", "&limit=1001", "&limit=x"]) {
      expect((await logsOf(agentId, first, more)).status).toBe(400);
    }
    expect((await first.operate("GET", PATH)).status).toBe(400);
  });

  it("names why an agent cannot be asked: not connected, connected to another replica, or too old", async () => {
    const { agentId } = await enrol(first, "us-east");
    expect(await refusalOf(logsOf(agentId))).toEqual([
      503,
      "probe_unavailable",
      "no_probe",
      "The agent is not connected.",
    ]);
    const [old] = await attach("us-east", false);
    expect(await refusalOf(logsOf(old))).toEqual([
      409,
      "conflict",
      "agent_version",
      "This agent's version (0.0.1) cannot send its log: upgrade it.",
    ]);
    // The other replica knows it as soon as the first has written it.
    await expect.poll(async () => (await refusalOf(logsOf(old, second)))[2]).toBe("probe_elsewhere");
  });

  it("refuses the answer of an agent that sends too much, or disconnects before it has answered", async () => {
    const [id, agent] = await attach("us-east", true);
    const asked = () => agent.messages.filter(({ body }) => body?.$case === "logRequest").length;
    const tooMuch = refusalOf(logsOf(id));
    await expect.poll(asked).toBe(1);
    agent.send({ body: { $case: "logLines", value: { requestId: 1, lines: Array(1_001).fill("x"), last: true } } });
    expect((await tooMuch).slice(0, 2)).toEqual([502, "request_failed"]);
    const lost = refusalOf(logsOf(id));
    await expect.poll(asked).toBe(2);
    agent.cut();
    expect((await lost).slice(0, 3)).toEqual([503, "probe_unavailable", "probe_lost"]);
  });
});
