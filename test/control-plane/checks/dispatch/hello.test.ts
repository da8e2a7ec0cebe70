import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentMessage, type Hello } from "#shared/protocol/probe.ts";
import { ok } from "#shared/contracts/outcome.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";
import { readHello } from "#control-plane/checks/dispatch/hello.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;

beforeEach(() => {
  local = startLocalHub();
});

afterEach(() => local.hub.stop());

const NAMES = ["hello", "beat", "accepted", "progress", "result", "draining"] as const;
type MessageName = (typeof NAMES)[number];

const recorded = JSON.parse(
  readFileSync(new URL("../../../fixtures/protocol/agent-1.1.json", import.meta.url), "utf8"),
) as Record<MessageName, string>;

function decode(name: MessageName): AgentMessage {
  return AgentMessage.decode(Buffer.from(recorded[name], "hex"));
}

function recordedHello(): Hello {
  const { body } = decode("hello");
  if (body?.$case !== "hello") throw new Error("the recording is no hello");
  return body.value;
}

describe("a recorded agent of protocol 1.1", () => {
  it("is accepted and gets jobs, and its beats count", async () => {
    const agent = attachAgent(local.hub, recordedHello());
    expect(agent.messages[0]?.body).toMatchObject({ $case: "welcome", value: { protocol: PROTOCOL } });
    const answer = local.run([agent.id]);
    const [job] = agent.jobs;
    if (job === undefined) throw new Error("it got no job");

    agent.send(decode("beat"));
    expect(agent.messages.at(-1)?.body).toMatchObject({ $case: "beat", value: { running: 1, waiting: 0 } });
    expect(await local.figures("vantage_agent_credits")).toEqual({ "eu-west,granted": 200, "eu-west,used": 1 });
    expect((await local.figures("vantage_agent_loop_lag_seconds"))["eu-west"]).toBeGreaterThan(0);
    agent.send(decode("accepted")); // of a job of the recorded hub
    agent.answer(job, ok({ old: true }));
    expect(await answer).toMatchObject({ outcome: ok({ old: true }) });
    expect(await local.figures("vantage_agent_messages_dropped_total")).toEqual({ unknown: 1 });

    agent.send(decode("draining"));
    expect(local.hub.roster.candidates(null).list).toMatchObject([{ region: "eu-west", online: false }]);
  });

  it("can begin with fewer credits than it has slots, and its octets equal those of today's code", () => {
    const read = readHello(recordedHello());
    expect(read).toMatchObject({ ok: true, agent: { credits: 10, maxJobs: 200, place: { region: "eu-west" } } });
    for (const name of NAMES) {
      expect(Buffer.from(AgentMessage.encode(decode(name)).finish()).toString("hex"), name).toBe(recorded[name]);
    }
  });
});

describe("a hello", () => {
  const reading = (over: Partial<Hello>) => {
    const read = readHello(helloOf("eu", over));
    return read.ok ? "ok" : read.rejection;
  };

  it("of a newer minor version is accepted", () => {
    expect(reading({ protocol: { major: PROTOCOL.major, minor: PROTOCOL.minor + 5 } })).toBe("ok");
  });

  it.each([
    [{ major: PROTOCOL.major + 1, minor: 0 }, "update the control plane"],
    [{ major: PROTOCOL.major - 1, minor: 9 }, "update the agent"],
    [undefined, "update the agent"],
  ])("of protocol %j is refused with advice, and can be retried rarely", (protocol, advice) => {
    const refused = reading({ protocol });
    expect(refused).toMatchObject({ reason: "protocol", retry: true });
    expect(refused).toMatchObject({ message: expect.stringContaining(advice) as string });
  });

  it("can have no credit at first if the agent has slots, and its number of slots is bounded", () => {
    expect(reading({ credits: 0, maxJobs: 5 })).toBe("ok");
    expect(reading({ credits: 0, maxJobs: 0 })).toMatchObject({ reason: "capacity" });
    expect(reading({ credits: 1, maxJobs: 4_000_000_000 })).toMatchObject({ reason: "capacity" });
  });

  it("with the same allow lists as another shares its set of rules", () => {
    const one = readHello(helloOf("eu"));
    const two = readHello(helloOf("us"));
    const three = readHello(helloOf("us", { allowTargets: [] }));
    if (!one.ok || !two.ok || !three.ok) throw new Error("refused");
    expect(two.agent.egress).toBe(one.agent.egress);
    expect(three.agent.egress).not.toBe(one.agent.egress);
  });
});
