import { describe, expect, it } from "vitest";
import { createOwnAttachments } from "#control-plane/checks/probes/presence/attachments.ts";
import { agentOf } from "#test/control-plane/checks/probes/presence/replica.ts";

const [one, two, three] = [agentOf("agent-one"), agentOf("agent-two"), agentOf("agent-three")];

describe("the attachments of this replica", () => {
  it("are written to the database once each, in their present state", () => {
    const attachments = createOwnAttachments();
    attachments.apply(one, "online");
    attachments.apply(two, "online");
    attachments.apply(one, "draining");
    attachments.apply(two, "gone");
    expect(attachments.knownIds()).toEqual(["agent-one", "agent-two"]);
    expect(attachments.takeChanges(10)).toMatchObject([
      { probeId: "agent-one", draining: true, hello: expect.any(String) as string },
      { probeId: "agent-two", draining: false, hello: null },
    ]);
    expect(attachments.hasChanges()).toBe(false);
    expect([attachments.attachedIds(), attachments.knownIds()]).toEqual([["agent-one"], ["agent-one"]]);
  });

  it("are written in parts, and again after a failed write", () => {
    const attachments = createOwnAttachments();
    for (const agent of [one, two, three]) attachments.apply(agent, "online");
    const first = attachments.takeChanges(2);
    expect(first.map(({ probeId }) => probeId)).toEqual(["agent-one", "agent-two"]);
    attachments.putBack(first);
    expect(attachments.takeChanges(10).map(({ probeId }) => probeId)).toEqual([
      "agent-three",
      "agent-one",
      "agent-two",
    ]);
  });

  it("are written again if the database shows them wrongly", () => {
    const attachments = createOwnAttachments();
    attachments.apply(one, "online");
    attachments.apply(two, "draining");
    attachments.takeChanges(10);
    attachments.compare([
      { probeId: "agent-one", draining: false },
      { probeId: "agent-two", draining: false },
      { probeId: "agent-three", draining: false },
    ]);
    expect(attachments.takeChanges(10).map(({ probeId }) => probeId)).toEqual(["agent-three", "agent-two"]);
    attachments.compare([{ probeId: "agent-two", draining: true }]);
    expect(attachments.takeChanges(10).map(({ probeId }) => probeId)).toEqual(["agent-one"]);
  });
});
