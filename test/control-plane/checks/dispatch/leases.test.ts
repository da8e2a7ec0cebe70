import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { createManualClock } from "#test/support/clock.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;

beforeEach(() => {
  local = startLocalHub();
});

afterEach(() => {
  vi.useRealTimers();
  local.hub.stop();
});

describe("the jobs of an agent that is lost", () => {
  it.each([
    ["closed", (_: LocalHub, cut: () => void) => cut()],
    ["revoked", ({ hub }: LocalHub) => hub.applyEnrolment("agent-eu", null)],
  ] as const)(
    "(%s) go to another: running jobs as the next attempt, waiting jobs as the same one",
    async (reason, lose) => {
      const first = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
      const second = attachAgent(local.hub, helloOf("us"));
      const ran = local.run(["agent-eu", "agent-us"], { params: "ran" });
      const waited = local.run(["agent-eu", "agent-us"], { params: "waited" });
      lose(local, () => first.cut());
      expect(second.jobs.map(({ params, attempt }) => [params, attempt])).toEqual([
        ["ran", 2],
        ["waited", 1],
      ]);
      for (const job of second.jobs) second.answer(job, ok({}));
      expect(await Promise.all([ran, waited])).toMatchObject([{ kind: "outcome" }, { kind: "outcome" }]);
      expect(await local.figures("vantage_lease_losses_total")).toEqual({ [reason]: 1 });
      expect(await local.figures("vantage_jobs_redispatched_total")).toEqual({ [reason]: 1 });
      expect(await local.figures("vantage_agents_detached_total")).toEqual({ [reason]: 1 });
    },
  );

  it("end immediately if no other agent matches", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
    const answers = [local.run(["agent-eu"]), local.run(["agent-eu"])];
    agent.cut();
    expect(await Promise.all(answers)).toEqual([
      { kind: "unavailable", reason: "probe_lost" },
      { kind: "unavailable", reason: "no_probe" },
    ]);
    expect(await local.figures("vantage_jobs_redispatched_total")).toEqual({});
  });

  it("go to its own new stream if it reconnects before the end of the old one is noticed", async () => {
    const older = attachAgent(local.hub, helloOf("eu"));
    const answer = local.run(["agent-eu"]);
    const newer = attachAgent(local.hub, helloOf("eu"));
    expect(older.closed).toBe(true);
    expect(newer.messages.map(({ body }) => body?.$case)).toEqual(["welcome", "job"]);
    older.answer(older.jobs[0], ok({ late: true }));
    newer.answer(newer.jobs[0], ok({ right: true }));
    older.cut();
    expect(await answer).toMatchObject({ outcome: ok({ right: true }), attempt: 2 });
    expect(await local.figures("vantage_agent_messages_dropped_total")).toEqual({ stale: 1 });
    expect(local.hub.roster.session("agent-eu")).toBeDefined();
  });

  it("end after three attempts", async () => {
    const agents = ["r1", "r2", "r3", "r4"].map((region) => attachAgent(local.hub, helloOf(region)));
    const answer = local.run(agents.map(({ id }) => id));
    for (const agent of agents.slice(0, 3)) agent.cut();
    expect(await answer).toEqual({ kind: "unavailable", reason: "probe_lost" });
    expect(agents.map(({ jobs }) => jobs.map((job) => job.attempt))).toEqual([[1], [2], [3], []]);
  });

  it("are not given to a third agent after two failed while they ran them", async () => {
    const agents = ["r1", "r2", "r3"].map((region) => attachAgent(local.hub, helloOf(region)));
    const answer = local.run(agents.map(({ id }) => id));
    for (const agent of agents.slice(0, 2)) {
      agent.accept(agent.jobs[0]);
      agent.cut();
    }
    expect(await answer).toMatchObject({
      kind: "outcome",
      outcome: { status: "failed", stage: "request", source: "probe", reason: "probes_lost" },
      agentId: "agent-r2",
      attempt: 2,
    });
    expect(agents.map(({ jobs }) => jobs.length)).toEqual([1, 1, 0]);
    expect(local.lines.filter(({ level }) => level === 40)).toMatchObject([{ tool: "check", agent: "agent-r2" }]);
  });

  it("continue if an agent had not accepted them or was shutting down", async () => {
    const agents = ["r1", "r2", "r3", "r4"].map((region) => attachAgent(local.hub, helloOf(region)));
    const [declining, draining, crashing, last] = agents;
    const answer = local.run(agents.map(({ id }) => id));
    declining?.decline(declining.jobs[0], "incapable");
    draining?.accept(draining.jobs[0]);
    draining?.drain();
    draining?.cut();
    crashing?.accept(crashing.jobs[0]);
    crashing?.cut();
    last?.answer(last.jobs[0], ok({}));
    expect(await answer).toMatchObject({ outcome: ok({}), agentId: "agent-r4", attempt: 3 });
  });

  it("move to another agent within 5 s if it is silent, even if its stream is open", async () => {
    local.hub.stop();
    vi.useFakeTimers();
    const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
    local = startLocalHub({ clock });
    const silent = attachAgent(local.hub, helloOf("eu"));
    const alive = attachAgent(local.hub, helloOf("us"));
    const answer = local.run(["agent-eu", "agent-us"], { deadlineMs: 30_000 });
    for (let elapsed = 0; elapsed < 5_000 && alive.jobs.length === 0; elapsed += 500) {
      clock.advance(500);
      alive.beat(10);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(alive.jobs).toMatchObject([{ attempt: 2 }]);
    expect(silent.closed).toBe(true);
    alive.answer(alive.jobs[0], ok({}));
    expect(await answer).toMatchObject({ attempt: 2 });
    expect(await local.figures("vantage_lease_losses_total")).toEqual({ silent: 1 });
  });

  it("stay with their agents while the control plane itself is delayed and reads no messages", async () => {
    local.hub.stop();
    vi.useFakeTimers();
    const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
    local = startLocalHub({ clock });
    const agent = attachAgent(local.hub, helloOf("eu"));
    const answer = local.run(["agent-eu"], { deadlineMs: 60_000 });
    for (let stall = 0; stall < 3; stall += 1) {
      clock.advance(10_000);
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(agent.closed).toBe(false);
    agent.answer(agent.jobs[0], ok({}));
    expect(await answer).toMatchObject({ attempt: 1 });
  });
});

describe("a message", () => {
  it("for another agent's job is dropped, counted as foreign and logged once a minute", async () => {
    const holder = attachAgent(local.hub, helloOf("eu"));
    const forger = attachAgent(local.hub, helloOf("us"));
    const answer = local.run(["agent-eu"]);
    for (let at = 0; at < 5; at += 1) forger.answer(holder.jobs[0], ok({ forged: true }));
    forger.decline(holder.jobs[0], "busy");
    holder.answer(holder.jobs[0], ok({ real: true }));
    expect(await answer).toMatchObject({ outcome: ok({ real: true }), agentId: "agent-eu" });
    expect(await local.figures("vantage_agent_messages_dropped_total")).toEqual({ foreign: 6 });
    expect(local.lines.filter(({ level }) => level === 40)).toMatchObject([{ agent: "agent-us" }]);
  });

  it("that is late, repeated or for no job counts as unknown; for an earlier attempt as stale", async () => {
    const first = attachAgent(local.hub, helloOf("eu"));
    const second = attachAgent(local.hub, helloOf("us"));
    const answer = local.run(["agent-eu", "agent-us"]);
    const [early] = first.jobs;
    first.decline(early, "busy");
    first.answer(early, ok({ declined: true }));
    second.answer(early === undefined ? early : { ...early, attempt: 7 }, ok({ wrong: true }));
    second.answer(second.jobs[0], ok({ right: true }));
    second.answer(second.jobs[0], ok({ again: true }));
    first.answer({ ...early, jobId: "x", attempt: 1 } as never, ok({}));
    expect(await answer).toMatchObject({ outcome: ok({ right: true }) });
    expect(await local.figures("vantage_agent_messages_dropped_total")).toEqual({ stale: 2, unknown: 2 });
  });

  it("with a result and an impossible duration counts as an overhead of 0", async () => {
    const agent = attachAgent(local.hub, helloOf("eu"));
    const answer = local.run(["agent-eu"]);
    agent.answer(agent.jobs[0], ok({}), 4_000_000_000);
    await answer;
    expect((await local.figures("vantage_dispatch_overhead_seconds"))["0.0005"]).toBe(1);
  });
});

describe("an agent's enrolment", () => {
  it("if disabled, it keeps running jobs and gets no new ones, and its waiting jobs move to others", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
    const other = attachAgent(local.hub, helloOf("us"));
    const running = local.run(["agent-eu", "agent-us"]);
    const waiting = local.run(["agent-eu", "agent-us"]);
    const enrolled = { agentId: "agent-eu", region: "eu", accountId: null };
    local.hub.applyEnrolment("agent-eu", { ...enrolled, enabled: false });
    expect(agent.closed).toBe(false);
    const candidate = () => local.hub.roster.candidates(null).list.find(({ region }) => region === "eu");
    expect(candidate()).toMatchObject({ online: false, elsewhere: false });
    expect(await local.figures("vantage_agents")).toEqual({ "eu,disabled": 1, "us,online": 1 });
    other.answer(other.jobs[0], ok({}));
    agent.answer(agent.jobs[0], ok({}));
    expect(await Promise.all([running, waiting])).toMatchObject([{ agentId: "agent-eu" }, { agentId: "agent-us" }]);
    local.hub.applyEnrolment("agent-eu", { ...enrolled, enabled: true });
    expect(candidate()).toMatchObject({ online: true });
  });

  it("if revoked, its stream ends with the reason, and it is no longer a location", () => {
    const agent = attachAgent(local.hub, helloOf("eu"));
    local.hub.applyEnrolment("agent-eu", null);
    expect(agent.closed).toBe(true);
    expect(agent.messages.at(-1)?.body).toMatchObject({
      $case: "rejected",
      value: { reason: "revoked", retry: false },
    });
    expect(local.hub.roster.candidates(null).list).toEqual([]);
  });
});

it("an agent that drains keeps running jobs, and its waiting jobs move to others", async () => {
  const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
  const answers = [local.run(["agent-eu"]), local.run(["agent-eu"])];
  agent.drain();
  expect(await answers[1]).toEqual({ kind: "unavailable", reason: "no_probe" });
  agent.answer(agent.jobs[0], ok({}));
  expect(await answers[0]).toMatchObject({ kind: "outcome" });
});
