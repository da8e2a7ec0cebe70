import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseLocations } from "#shared/internet/locations.ts";
import { failed, ok, overloaded, type Outcome } from "#shared/contracts/outcome.ts";
import { chooseAnswer, timeForAnother, runCheck } from "#control-plane/checks/run-check.ts";
import type { CheckEvent } from "#control-plane/checks/answer.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import type { CheckRequest } from "#control-plane/checks/context.ts";
import type { JobAnswer } from "#control-plane/checks/dispatch/job.ts";
import { echoTool } from "#test/control-plane/checks/echo-tool.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent, type AttachedAgent } from "#test/support/attached-agent.ts";
import { systemClock } from "#test/support/clock.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

const URL = "https://example.com/";
const GOOD = ok({ url: URL, rtt_ms: 1 });
const STARVED = overloaded("response", "its threads got no processor time.", { repeatable: true });
const HOSTILE = overloaded("response", "its threads got no processor time.", { repeatable: false });
const LATE = failed("response", "target", "timeout", "no answer");

let local: LocalHub;
let taken: number;
beforeEach(() => {
  taken = 0;
  local = startLocalHub();
});
afterEach(() => local.hub.stop());

/** Attaches an agent that gives the same answer to every job. The first one by name is asked first. */
const attach = (name: string, outcome: Outcome<unknown>, region = "eu"): AttachedAgent =>
  attachAgent(local.hub, helloOf(region, { agentId: name }), {}, () => outcome);

const { cacheMs: _, ...contract } = echoTool;
const pacer = createPacer(systemClock);

function check(over: Partial<CheckRequest> = {}) {
  const budget = { take: () => Promise.resolve({ ok: (taken += 1) > 0 } as const) };
  const app = { hub: local.hub, clock: systemClock, results: createResultCache(systemClock), budget, pacer };
  const request = { contract, params: { url: URL, loud: false }, accountId: 1, locations: null, maxLocations: 10 };
  return runCheck(app as never, { ...request, ...over });
}

function at(expression: string) {
  const parsed = parseLocations(expression);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.items;
}

describe("a check whose agent is overloaded", () => {
  it("is answered by another agent, and counts once", async () => {
    const agents = [attach("agent-000a", STARVED), attach("agent-000b", GOOD)];
    const events: CheckEvent[] = [];
    const answer = await check({ onEvent: (event) => events.push(event) });
    expect(answer).toMatchObject({ kind: "single", outcome: GOOD, location: { probe_id: "agent-000b" } });
    expect(agents.map(({ jobs }) => jobs.length)).toEqual([1, 1]);
    expect(taken).toBe(1);
    expect(events.map(({ event, data }) => [event, data.location.probe_id, data.attempt])).toEqual([
      ["restart", "agent-000a", 2],
      ["result", "agent-000b", 2],
    ]);
    expect(events[0]?.data).toMatchObject({ reason: "probe_overloaded" });
  });

  it("gives the other agent only the time that is left", async () => {
    const [first, second] = [attach("agent-000a", STARVED), attach("agent-000b", GOOD)];
    await check({ deadlineMs: 3_000 });
    expect(second.jobs[0]?.deadlineMs).toBeLessThanOrEqual(first.jobs[0]?.deadlineMs ?? 0);
    expect(second.jobs[0]?.deadlineMs).toBeGreaterThan(0);
  });

  it("is not asked of another one if it used half of its processor time: a hostile page would cost two", async () => {
    const agents = [attach("agent-000a", HOSTILE), attach("agent-000b", GOOD)];
    expect(await check()).toMatchObject({ outcome: { source: "probe", reason: "probe_overloaded" } });
    expect(agents.map(({ jobs }) => jobs.length)).toEqual([1, 0]);
  });

  it("is asked of one other agent only", async () => {
    const agents = [attach("agent-000a", STARVED), attach("agent-000b", STARVED), attach("agent-000c", GOOD)];
    expect(await check()).toMatchObject({
      outcome: { reason: "probe_overloaded" },
      location: { probe_id: "agent-000b" },
    });
    expect(agents.map(({ jobs }) => jobs.length)).toEqual([1, 1, 0]);
  });

  it("is asked within its location, where a paced check keeps its place at the target", async () => {
    const abroad = attach("agent-000b", GOOD, "us");
    attach("agent-000a", STARVED);
    const rows = { data: { locations: [{ status: "failed", error: { code: "request_failed", source: "probe" } }] } };
    expect(await check({ locations: at("eu") })).toMatchObject(rows);
    expect(abroad.jobs).toEqual([]);
    const neighbour = attach("agent-000c", GOOD);
    const answer = await check({ locations: at("eu"), pace: "paced" });
    expect(answer).toMatchObject({ data: { locations: [{ status: "ok", location: { probe_id: "agent-000c" } }] } });
    expect(neighbour.jobs).toHaveLength(1);
  });

  it("ends as that if nobody else is there, or the other one times out in its shorter time", async () => {
    const alone = attach("agent-000a", STARVED);
    expect(await check()).toMatchObject({ outcome: { reason: "probe_overloaded" } });
    expect(alone.jobs).toHaveLength(1);
    const slow = attach("agent-000b", LATE);
    expect(await check()).toMatchObject({
      outcome: { reason: "probe_overloaded" },
      location: { probe_id: "agent-000a" },
    });
    expect(slow.jobs).toHaveLength(1);
  });

  it("of an agent that blames others for it is not asked again", async () => {
    const agents = [attach("agent-000a", { ...LATE, repeatable: true }), attach("agent-000b", GOOD)];
    expect(await check()).toMatchObject({ outcome: LATE });
    expect(agents.map(({ jobs }) => jobs.length)).toEqual([1, 0]);
  });
});

const answered = (outcome: Outcome<unknown>, attempt = 1) =>
  ({ kind: "outcome", outcome, agentId: "a", attempt, durationMs: 1 }) as const;

describe("the decision to ask again", () => {
  it.each<[string, JobAnswer, number, number | null]>([
    ["takes the time that is left", answered(STARVED), 12_000, 18_000],
    ["needs a quarter of the time", answered(STARVED), 22_501, null],
    ["needs the agent's word", answered(HOSTILE), 0, null],
    ["needs a failure", answered(GOOD), 0, null],
    ["needs an answer", { kind: "unavailable", reason: "busy" }, 0, null],
  ])("%s", (_what, first, usedMs, leftMs) => {
    expect(timeForAnother(first, 30_000, usedMs)).toBe(leftMs);
  });

  const first = answered(STARVED);
  const late = ok({ verdict: "down", fault: { stage: "response", reason: "timeout", message: "m" } });
  it.each<[string, JobAnswer, JobAnswer]>([
    ["takes the second answer, as the next attempt", answered(GOOD), answered(GOOD, 2)],
    [
      "takes another failure",
      answered(failed("dns", "target", "nxdomain", "m")),
      answered(failed("dns", "target", "nxdomain", "m"), 2),
    ],
    ["does not believe a timeout", answered(LATE), answered(STARVED, 2)],
    ["does not believe a timeout in a monitor's result", answered(late), answered(STARVED, 2)],
    ["stays with the first if the second has no agent", { kind: "unavailable", reason: "busy" }, answered(STARVED, 2)],
    ["ends when the caller has gone", { kind: "cancelled" }, { kind: "cancelled" }],
  ])("%s", (_what, second, chosen) => {
    expect(chooseAnswer(first, second)).toEqual(chosen);
  });
});
