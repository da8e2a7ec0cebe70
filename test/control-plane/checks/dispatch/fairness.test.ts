import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ok } from "#shared/contracts/outcome.ts";
import { MAX_WAITING_PER_ACCOUNT } from "#control-plane/checks/dispatch/session.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { createManualClock } from "#test/support/clock.ts";
import { attachAgent, type AttachedAgent } from "#test/support/attached-agent.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;

beforeEach(() => {
  local = startLocalHub();
});

afterEach(() => {
  vi.useRealTimers();
  local.hub.stop();
});

/** Returns the hub's beats, oldest first. */
const beatsOf = (agent: AttachedAgent) =>
  agent.messages.flatMap(({ body }) => (body?.$case === "beat" ? [body.value] : []));

describe("an agent with one credit", () => {
  it("runs the single job of one account next, even if another account has a thousand waiting", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
    const many = Array.from({ length: 1_000 }, () => local.run(["agent-eu"], { accountId: 1, params: "many" }));
    const single = local.run(["agent-eu"], { accountId: 2, params: "single" });
    const withoutAccount = local.run(["agent-eu"], { accountId: null, params: "no account" });
    for (let at = 0; at < 4; at += 1) agent.answer(agent.jobs[at], ok({}));
    expect(agent.jobs.slice(0, 5).map((job) => job.params)).toEqual(["many", "many", "single", "no account", "many"]);
    // The agent shares its browser by it.
    expect(agent.jobs.slice(0, 5).map((job) => job.account)).toEqual(["1", "1", "2", "", "1"]);
    expect(await single).toMatchObject({ kind: "outcome" });
    expect(await withoutAccount).toMatchObject({ kind: "outcome" });
    for (let at = 4; at < 1_002; at += 1) agent.answer(agent.jobs[at], ok({}));
    expect((await Promise.all(many)).every((answer) => answer.kind === "outcome")).toBe(true);
  });

  it("immediately refuses jobs above an account's share of the queue, but not those of others", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 1 }));
    const waiting = Array.from({ length: MAX_WAITING_PER_ACCOUNT + 1 }, () =>
      local.run(["agent-eu"], { accountId: 1 }),
    );
    expect(await local.run(["agent-eu"], { accountId: 1 })).toEqual({ kind: "unavailable", reason: "busy" });
    const other = local.run(["agent-eu"], { accountId: 2 });
    expect(await local.figures("vantage_jobs_in_flight")).toEqual({
      "eu,running": 1,
      "eu,waiting": MAX_WAITING_PER_ACCOUNT + 1,
    });
    agent.cut();
    await Promise.all([...waiting, other]);
  });
});

describe("credits", () => {
  it("are requested immediately when jobs begin to wait, at most every 50 ms, once for a burst", async () => {
    local.hub.stop();
    vi.useFakeTimers();
    const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
    local = startLocalHub({ clock });
    const pass = (ms: number) => {
      clock.advance(ms);
      vi.advanceTimersByTime(ms);
    };
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 1, maxJobs: 50 }));
    const jobs = Array.from({ length: 10 }, () => local.run(["agent-eu"]));
    pass(1);
    expect(beatsOf(agent)).toMatchObject([{ running: 1, waiting: 9 }]);
    jobs.push(local.run(["agent-eu"]), local.run(["agent-eu"]));
    pass(48);
    expect(beatsOf(agent)).toHaveLength(1);
    pass(2);
    expect(beatsOf(agent)).toMatchObject([{ waiting: 9 }, { waiting: 11 }]);
    agent.beat(12, 1);
    expect(agent.jobs).toHaveLength(12);
    expect(beatsOf(agent).at(-1)).toMatchObject({ running: 12, waiting: 0 });
    for (const job of agent.jobs) agent.answer(job, ok({}));
    await Promise.all(jobs);
  });

  it("are not requested if the agent has no more", async () => {
    local.hub.stop();
    vi.useFakeTimers();
    const clock = createManualClock(new Date("2026-03-01T12:00:00Z"));
    local = startLocalHub({ clock });
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 2, maxJobs: 2 }));
    const jobs = Array.from({ length: 5 }, () => local.run(["agent-eu"]));
    clock.advance(60);
    vi.advanceTimersByTime(60);
    expect(beatsOf(agent)).toEqual([]);
    agent.cut();
    await Promise.all(jobs);
  });

  it("can fall below the number of running jobs, to 0, and rise again to the agent's maximum", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 3, maxJobs: 4 }));
    const jobs = Array.from({ length: 8 }, () => local.run(["agent-eu"]));
    expect(agent.jobs).toHaveLength(3);
    agent.beat(0, 3);
    for (const job of agent.jobs.slice(0, 3)) agent.answer(job, ok({}));
    expect(agent.jobs).toHaveLength(3);
    agent.beat(1_000_000, 0);
    expect(agent.jobs).toHaveLength(7);
    expect(await local.figures("vantage_agent_credits")).toEqual({ "eu,granted": 4, "eu,used": 4 });
    for (const job of agent.jobs.slice(3)) agent.answer(job, ok({}));
    agent.answer(agent.jobs[7], ok({}));
    expect((await Promise.all(jobs)).every((answer) => answer.kind === "outcome")).toBe(true);
  });

  it("result in a load relative to all slots of the agent, including jobs for other replicas", () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 5, maxJobs: 20 }));
    void local.run(["agent-eu"]);
    const load = () => local.hub.roster.candidates(null).list[0]?.load;
    expect(load()).toBe(1 / 20);
    agent.beat(5, 11);
    expect(load()).toBe(11 / 20);
  });
});

describe("a job declined as busy", () => {
  it("goes to another agent of the same choice, and uses no attempt", async () => {
    const busy = attachAgent(local.hub, helloOf("eu"));
    const free = attachAgent(local.hub, helloOf("us"));
    const answer = local.run(["agent-eu", "agent-us"]);
    busy.decline(busy.jobs[0], "busy");
    expect(free.jobs).toMatchObject([{ attempt: 1 }]);
    free.answer(free.jobs[0], ok({}));
    expect(await answer).toMatchObject({ kind: "outcome", attempt: 1, agentId: "agent-us" });
    expect(await local.figures("vantage_jobs_declined_total")).toEqual({ busy: 1 });
  });

  it("waits first in the queue for the only agent's next credits message, without a busy loop", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 2, maxJobs: 10 }));
    const first = local.run(["agent-eu"], { params: "first" });
    agent.decline(agent.jobs[0], "busy");
    const second = local.run(["agent-eu"], { params: "second" });
    expect(agent.jobs).toHaveLength(1);
    agent.beat(1, 0);
    expect(agent.jobs.slice(1)).toMatchObject([{ params: "first", attempt: 1 }]);
    agent.decline(agent.jobs[1], "busy");
    expect(agent.jobs).toHaveLength(2);
    agent.beat(2, 0);
    expect(agent.jobs.slice(2).map((job) => job.params)).toEqual(["first", "second"]);
    for (const job of agent.jobs.slice(2)) agent.answer(job, ok({}));
    expect(await Promise.all([first, second])).toMatchObject([{ kind: "outcome" }, { kind: "outcome" }]);
  });

  it("is not offered to that agent again when another job ends there", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 2, maxJobs: 10 }));
    const other = local.run(["agent-eu"], { params: "other" });
    const declined = local.run(["agent-eu"], { params: "declined" });
    agent.decline(agent.jobs[1], "busy");
    agent.answer(agent.jobs[0], ok({}));
    expect(await other).toMatchObject({ kind: "outcome" });
    expect(agent.jobs).toHaveLength(2);
    agent.beat(2, 0);
    agent.answer(agent.jobs[2], ok({}));
    expect(await declined).toMatchObject({ kind: "outcome", attempt: 1 });
  });

  it("prevents the choice of that agent while another is free, until its next credits message", async () => {
    const agent = attachAgent(local.hub, helloOf("eu"));
    const load = () => local.hub.roster.candidates(null).list[0]?.load;
    const answer = local.run(["agent-eu"]);
    agent.decline(agent.jobs[0], "busy");
    expect(load()).toBe(1);
    agent.beat(10, 0);
    expect(load()).toBe(1 / 10);
    agent.answer(agent.jobs[1], ok({}));
    expect(await answer).toMatchObject({ kind: "outcome" });
  });

  it("is answered as busy at its deadline at the latest", async () => {
    const agent = attachAgent(local.hub, helloOf("eu"));
    const answer = local.run(["agent-eu"], { deadlineMs: 50 });
    agent.decline(agent.jobs[0], "busy");
    expect(await answer).toEqual({ kind: "unavailable", reason: "busy" });
  });
});

describe("a job declined as incapable or draining", () => {
  it("never returns to that agent; without another agent it is answered immediately", async () => {
    const one = attachAgent(local.hub, helloOf("eu"));
    const two = attachAgent(local.hub, helloOf("us"));
    const answer = local.run(["agent-eu", "agent-us"]);
    one.decline(one.jobs[0], "incapable");
    two.decline(two.jobs[0], "draining");
    expect(await answer).toEqual({ kind: "unavailable", reason: "declined" });
    expect([one.jobs.length, two.jobs.length]).toEqual([1, 1]);
    const strange = local.run(["agent-eu"]);
    one.decline(one.jobs[1], "x".repeat(10_000));
    expect(await strange).toMatchObject({ kind: "unavailable" });
    expect(await local.figures("vantage_jobs_declined_total")).toEqual({ incapable: 1, draining: 1, other: 1 });
  });
});
