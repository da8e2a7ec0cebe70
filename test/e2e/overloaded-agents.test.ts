import { afterAll, describe, expect, it } from "vitest";
import { ok, overloaded, type Outcome } from "#shared/contracts/outcome.ts";
import { httpStatus } from "#shared/tools/http-status/contract.ts";
import { httpStatus as httpStatusTool } from "#probe-agent/tools/http-status/http-status.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { callEverySurface } from "#test/support/surfaces.ts";
import { resultOf } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const url = "https://example.com/";
const STARVED = overloaded("response", "its threads got no processor time.", { repeatable: true });
const SHOWN = { code: "request_failed", stage: "response", source: "probe", reason: "probe_overloaded" };

const agents: ScriptedAgent[] = [];

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey();
const web = await startHttpServer();
const result = await resultOf(httpStatusTool, { url: `${web.url}/` });
await web.close();
afterAll(async () => {
  for (const agent of agents) agent.cut();
});

/** Attaches an agent that answers every job so. */
async function attach(region: string, name: string, outcome: Outcome<unknown>): Promise<ScriptedAgent> {
  const agent = await attachScripted(plane, helloOf(region, { agentId: name }));
  agents.push(agent);
  void (async () => {
    for (;;) agent.answer(await agent.nextJob(), outcome);
  })();
  return agent;
}

describe("an overloaded agent", () => {
  it("is a 502 of the probe at every surface, in one form", async () => {
    await attach("eu", "agent-eu-0001", STARVED);
    for (const [surface, answer] of await callEverySurface(plane, key, httpStatus, { url })) {
      const error = "error" in answer ? answer.error : {};
      expect(error, surface).toMatchObject(SHOWN);
      expect(error["message"], surface).toMatch(/^The probe was overloaded: /);
      expect(Object.keys(error), surface).not.toContain("repeatable");
    }
    const { status } = await plane.call(`/api/v4/http-status?url=${url}`, { key });
    expect(status).toBe(502);
  });

  it("is replaced by another one of the location, and the request counts once", async () => {
    const other = await attach("eu", "agent-eu-0002", ok(result));
    const before = await plane.call("/api/v4/probes", { key });
    const answer = await plane.call(`/api/v4/http-status?url=${url}%3Fagain&locations=eu`, { key });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ locations: [{ status: "ok", data: { code: 200 } }] });
    expect(other.jobs).toHaveLength(1);
    const left = (headers: Headers) => Number(headers.get("x-ratelimit-remaining"));
    // A new minute may have begun in between.
    expect([left(before.headers) - 1, 239]).toContain(left(answer.headers));
  });
});
