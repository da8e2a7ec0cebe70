import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failed, ok } from "#shared/contracts/outcome.ts";
import { MAX_RESULT_BYTES, SILENT_MS } from "#shared/protocol/wire.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import type { JobRequest } from "#control-plane/checks/dispatch/job.ts";
import { listenForAgents, type HubListener } from "#test/support/agent-listener.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

const log = pino({ level: "silent" });
let hub: Hub;
let server: HubListener;
let registry: Registry;

beforeEach(async () => {
  registry = new Registry();
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry });
  server = await listenForAgents(hub, log);
});

afterEach(async () => {
  hub.stop();
  await server.listener.stop();
});

/** Runs a job on one of the named agents, in this order of preference. */
function jobFor(agentIds: readonly string[], over: Partial<JobRequest> = {}): JobRequest {
  return {
    tool: "check",
    accountId: null,
    params: "{}",
    deadlineMs: 240_000,
    pick: (excluded) => agentIds.find((id) => !excluded.has(id) && hub.roster.session(id) !== undefined) ?? null,
    ...over,
  };
}

async function counter(name: string): Promise<Record<string, number>> {
  const metric = await registry.getSingleMetric(name)?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map((value) => [Object.values(value.labels).join(","), value.value]),
  );
}

describe("a job", () => {
  it("goes to the chosen agent and returns its result", async () => {
    const agent = await attachScripted(server, helloOf("eu"));
    const answer = hub.run(jobFor(["agent-eu"], { params: '{"url":"x"}' }));
    const job = await agent.nextJob();
    expect(job).toMatchObject({ tool: "check", params: '{"url":"x"}', attempt: 1 });
    agent.answer(job, ok({ code: 200 }));
    expect(await answer).toMatchObject({
      kind: "outcome",
      outcome: ok({ code: 200 }),
      agentId: "agent-eu",
      attempt: 1,
    });
  });

  it("is answered immediately if no agent can run it", async () => {
    expect(await hub.run(jobFor(["agent-eu"]))).toEqual({ kind: "unavailable", reason: "no_probe" });
  });

  it("moves to another agent as the next attempt when its agent's stream is cut", async () => {
    const first = await attachScripted(server, helloOf("eu"));
    const second = await attachScripted(server, helloOf("us"));
    const restarts: unknown[] = [];
    const onRestart = (agentId: string, attempt: number, reason: string) => restarts.push([agentId, attempt, reason]);
    const answer = hub.run(jobFor(["agent-eu", "agent-us"], { onRestart }));
    await first.nextJob();
    first.cut();
    const job = await second.nextJob();
    expect(job.attempt).toBe(2);
    second.answer(job, ok({}));
    expect(await answer).toMatchObject({ kind: "outcome", agentId: "agent-us", attempt: 2 });
    expect(restarts).toEqual([["agent-eu", 2, "closed"]]);
  });

  it("is immediately unavailable when its only agent is lost", async () => {
    const agent = await attachScripted(server, helloOf("eu"));
    const answer = hub.run(jobFor(["agent-eu"]));
    await agent.nextJob();
    agent.cut();
    expect(await answer).toEqual({ kind: "unavailable", reason: "probe_lost" });
  });

  it("leaves a silent agent after 5 s", async () => {
    const silent = await attachScripted(server, helloOf("eu"));
    const answer = hub.run(jobFor(["agent-eu"], { deadlineMs: 240_000 }));
    await silent.nextJob();
    expect(await endsBy(SILENT_MS, () => answer)).toEqual({ kind: "unavailable", reason: "probe_lost" });
    await silent.ended;
  });

  it("continues without using an attempt when an agent declines it", async () => {
    const busy = await attachScripted(server, helloOf("eu"));
    const free = await attachScripted(server, helloOf("us"));
    const answer = hub.run(jobFor(["agent-eu", "agent-us"]));
    const { jobId, attempt } = await busy.nextJob();
    busy.send({ body: { $case: "declined", value: { jobId, attempt, reason: "busy" } } });
    const job = await free.nextJob();
    expect(job.attempt).toBe(1);
    free.answer(job, ok({}));
    expect(await answer).toMatchObject({ kind: "outcome", attempt: 1 });
  });

  it("waits for a credit, in order, and no agent gets more jobs than its credits", async () => {
    const agent = await attachScripted(server, helloOf("eu", { credits: 2 }));
    const answers = [1, 2, 3, 4].map((n) => hub.run(jobFor(["agent-eu"], { params: String(n) })));
    const held = [await agent.nextJob(), await agent.nextJob()];
    expect(held.map((job) => job.params)).toEqual(["1", "2"]);
    expect(agent.jobs).toHaveLength(2);
    for (const job of held) agent.answer(job, ok({}));
    const rest = [await agent.nextJob(), await agent.nextJob()];
    expect(rest.map((job) => job.params)).toEqual(["3", "4"]);
    for (const job of rest) agent.answer(job, ok({}));
    expect(await Promise.all(answers)).toHaveLength(4);
  });

  it("is a failure of the probe if the agent has not answered by the deadline, and is cancelled there", async () => {
    const agent = await attachScripted(server, helloOf("eu"));
    const answer = await hub.run(jobFor(["agent-eu"], { deadlineMs: 200 }));
    expect(answer).toMatchObject({
      kind: "outcome",
      outcome: { status: "failed", source: "probe", reason: "timeout" },
    });
    await expect.poll(() => agent.messages.some((message) => message.body?.$case === "cancel")).toBe(true);
  });

  it("is cancelled on the agent when the caller disconnects", async () => {
    const agent = await attachScripted(server, helloOf("eu"));
    const caller = new AbortController();
    const answer = hub.run(jobFor(["agent-eu"], { signal: caller.signal }));
    await agent.nextJob();
    caller.abort();
    expect(await answer).toEqual({ kind: "cancelled" });
    await expect.poll(() => agent.messages.some((message) => message.body?.$case === "cancel")).toBe(true);
  });
});

describe("a result", () => {
  it("of an earlier attempt or another agent, or a repeated one, is dropped and counted", async () => {
    const first = await attachScripted(server, helloOf("eu"));
    const second = await attachScripted(server, helloOf("us"));
    const answer = hub.run(jobFor(["agent-eu", "agent-us"]));
    const job = await first.nextJob();
    second.answer(job, ok({ forged: true }));
    first.answer({ ...job, attempt: 2 }, ok({ forged: true }));
    first.answer(job, ok({ real: true }));
    first.answer(job, ok({ again: true }));
    expect(await answer).toMatchObject({ outcome: ok({ real: true }) });
    await expect
      .poll(() => counter("vantage_agent_messages_dropped_total"))
      .toEqual({ foreign: 1, stale: 1, unknown: 1 });
  });

  it.each([
    ["not JSON", "{", "invalid_result"],
    ["with an unknown status", '{"status":"fine"}', "invalid_result"],
    [
      "with an unknown stage",
      JSON.stringify({ ...failed("dns", "target", "x", "y"), stage: "moon" }),
      "invalid_result",
    ],
    ["too large", JSON.stringify(ok({ filler: "x".repeat(MAX_RESULT_BYTES) })), "result_too_large"],
  ])("(%s) is a failure of the probe", async (_what, outcome, reason) => {
    const agent = await attachScripted(server, helloOf("eu"));
    const answer = hub.run(jobFor(["agent-eu"]));
    const { jobId, attempt } = await agent.nextJob();
    agent.send({ body: { $case: "result", value: { jobId, attempt, outcome, durationMs: 1 } } });
    expect(await answer).toMatchObject({ outcome: { status: "failed", source: "probe", reason } });
  });
});

describe("an agent", () => {
  it("is rejected with the reason if its hello is invalid", async () => {
    const refused = async (over: Parameters<typeof helloOf>[1]) => {
      const agent = await attachScripted(server, helloOf("eu", over));
      await agent.ended;
      const body = agent.messages[0]?.body;
      return body?.$case === "rejected" ? body.value.reason : null;
    };
    expect(await refused({ protocol: { major: 2, minor: 0 } })).toBe("protocol");
    expect(await refused({ agentId: "../x" })).toBe("identity");
    expect(await refused({ allowTargets: ["10.0.0.0/99"] })).toBe("identity");
    expect(await refused({ credits: 0, maxJobs: 0 })).toBe("capacity");
    expect(hub.roster.rows()).toEqual([]);
  });

  it("that connects again with its id replaces its older stream", async () => {
    const older = await attachScripted(server, helloOf("eu"));
    const newer = await attachScripted(server, helloOf("eu"));
    await older.ended;
    const answer = hub.run(jobFor(["agent-eu"]));
    newer.answer(await newer.nextJob(), ok({}));
    expect(await answer).toMatchObject({ kind: "outcome" });
  });

  it("gets no new jobs while it drains, and is known as offline after it has left", async () => {
    const agent = await attachScripted(server, helloOf("eu"));
    agent.send({ body: { $case: "draining", value: {} } });
    await expect.poll(() => hub.roster.rows()[0]?.status).toBe("draining");
    expect(hub.roster.candidates(null).list).toMatchObject([{ region: "eu", online: false }]);
    agent.cut();
    await expect.poll(() => hub.roster.rows()[0]?.status).toBe("offline");
  });

  it("that sends garbage before its hello is disconnected, without effect on others", async () => {
    const good = await attachScripted(server, helloOf("eu"));
    const bad = await attachScripted(server, helloOf("us", { agentId: "x" }));
    await bad.ended;
    const answer = hub.run(jobFor(["agent-eu"]));
    good.answer(await good.nextJob(), ok({}));
    expect(await answer).toMatchObject({ kind: "outcome" });
  });
});
