import { describe, expect, it } from "vitest";
import { afterLosses, type Loss, type LossReason } from "#control-plane/checks/dispatch/losses.ts";

const loss = (reason: LossReason, over: Partial<Loss> = {}): Loss => ({
  reason,
  accepted: true,
  draining: false,
  ...over,
});

describe("after its losses a job", () => {
  it("goes to a second agent, regardless of how the first was lost", () => {
    for (const reason of ["closed", "silent", "replaced", "revoked", "stopped"] as const) {
      expect(afterLosses([loss(reason)])).toBe("again");
    }
  });

  it.each([
    ["closed", "closed"],
    ["closed", "silent"],
    ["silent", "silent"],
  ] as const)("is suspect if agents that ran it crashed or hung: %s, %s", (first, second) => {
    expect(afterLosses([loss(first), loss(second)])).toBe("suspect");
    expect(afterLosses([loss(first), loss("replaced"), loss(second)])).toBe("suspect");
  });

  it.each([
    ["had not accepted it", loss("closed", { accepted: false })],
    ["was shutting down", loss("closed", { draining: true })],
    ["reconnected", loss("replaced")],
    ["was revoked", loss("revoked")],
  ])("is not suspect after the loss of an agent that %s", (_, harmless) => {
    expect(afterLosses([loss("closed"), harmless])).toBe("again");
    expect(afterLosses([loss("closed"), harmless, harmless])).toBe("exhausted");
  });
});
