import { afterEach, describe, expect, it } from "vitest";
import { readHello, type AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { AbsentAgent, Presence, ReplicaInfo } from "#control-plane/checks/dispatch/presence.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;
afterEach(() => local.hub.stop());

function infoOf(region: string): AgentInfo {
  const read = readHello(helloOf(region));
  if (!read.ok) throw new Error(read.rejection.message);
  return read.agent;
}

function absent(region: string, over: Partial<AbsentAgent> = {}): AbsentAgent {
  const base = { accountId: null, enabled: true, replicas: ["other"], draining: false };
  return { agent: infoOf(region), ...base, ...over };
}

/** Presence whose content the test controls. */
function createFakePresence() {
  const content = { absent: [] as readonly AbsentAgent[], replicas: [] as readonly ReplicaInfo[] };
  const changes: string[] = [];
  const listeners: (() => void)[] = [];
  const presence: Presence = {
    absent: () => content.absent,
    replicas: () => content.replicas,
    onReplicas: (listener) => void listeners.push(listener),
    changed: ({ id }, state) => void changes.push(`${id} ${state}`),
  };
  const listReplicas = (replicas: readonly ReplicaInfo[]) => {
    content.replicas = replicas;
    for (const listener of listeners) listener();
  };
  return { content, changes, presence, listReplicas };
}

const seen = (accountId: number | null) =>
  local.hub.roster.candidates(accountId).list.map(({ region, online, elsewhere }) => [region, online, elsewhere]);

describe("candidates", () => {
  it("are shared agents and the account's own", () => {
    local = startLocalHub();
    attachAgent(local.hub, helloOf("shared"));
    attachAgent(local.hub, helloOf("mine"), { accountId: 7 });
    expect(seen(7)).toEqual([
      ["shared", true, false],
      ["mine", true, false],
    ]);
    expect(seen(8)).toEqual([["shared", true, false]]);
    expect(seen(null)).toEqual([["shared", true, false]]);
  });

  it("are the same objects until an agent attaches, leaves, drains or changes", () => {
    local = startLocalHub();
    const agent = attachAgent(local.hub, helloOf("eu"));
    const first = local.hub.roster.candidates(null);
    expect(local.hub.roster.candidates(1)).toBe(first);
    attachAgent(local.hub, helloOf("us"));
    const second = local.hub.roster.candidates(null);
    expect(second).not.toBe(first);
    expect(second.list[0]).toBe(first.list[0]);
    agent.drain();
    expect(local.hub.roster.candidates(null)).not.toBe(second);
  });

  it("include agents of other replicas, and offline agents, with their enrolment from the database", () => {
    const { content, presence } = createFakePresence();
    local = startLocalHub({ presence });
    attachAgent(local.hub, helloOf("here"));
    content.absent = [
      absent("here"),
      absent("there"),
      absent("gone", { replicas: [] }),
      absent("off", { enabled: false }),
      absent("draining", { draining: true }),
      absent("private", { accountId: 7 }),
    ];
    expect(seen(null)).toEqual([
      ["here", true, false],
      ["there", false, true],
      ["gone", false, false],
      ["off", false, false],
      ["draining", false, false],
    ]);
    expect(seen(7).at(-1)).toEqual(["private", false, true]);
  });

  it("have each set of egress rules of online agents once, and separately those of shared agents", () => {
    local = startLocalHub();
    attachAgent(local.hub, helloOf("one"));
    attachAgent(local.hub, helloOf("two"));
    attachAgent(local.hub, helloOf("plain", { allowTargets: [] })).cut();
    attachAgent(local.hub, helloOf("mine", { allowTargets: ["0.0.0.0/0"] }), { accountId: 7 });
    expect(local.hub.roster.candidates(null).rules).toHaveLength(1);
    expect(local.hub.roster.candidates(7).rules).toHaveLength(2);
    expect(local.hub.roster.candidates(7).sharedRules.some((egress) => egress.lists("8.8.8.8"))).toBe(false);
  });
});

describe("the replicas", () => {
  it("are sent in the welcome and whenever their set changes", () => {
    const { presence, listReplicas } = createFakePresence();
    local = startLocalHub({ presence });
    listReplicas([{ id: "a", address: "one.example:50051" }]);
    const agent = attachAgent(local.hub, helloOf("eu"));
    expect(agent.messages[0]?.body).toMatchObject({
      $case: "welcome",
      value: { replicas: { replicas: [{ id: "a", address: "one.example:50051" }] } },
    });
    listReplicas([
      { id: "a", address: "" },
      { id: "b", address: "" },
    ]);
    expect(agent.messages.at(-1)?.body).toMatchObject({
      $case: "replicas",
      value: { replicas: [{ id: "a" }, { id: "b" }] },
    });
  });

  it("learn which agents attach, drain and leave; a stream that replaces another is not a leave", () => {
    const { presence, changes } = createFakePresence();
    local = startLocalHub({ presence });
    const older = attachAgent(local.hub, helloOf("eu"));
    const newer = attachAgent(local.hub, helloOf("eu"));
    older.cut();
    newer.drain();
    newer.drain();
    newer.cut();
    expect(changes).toEqual(["agent-eu online", "agent-eu online", "agent-eu draining", "agent-eu gone"]);
  });
});
