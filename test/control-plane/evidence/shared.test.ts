import { describe, expect, it } from "vitest";
import { adaptLines, describeSharing, nameGathered, type Examined } from "#control-plane/evidence/shared.ts";

const AT = Date.parse("2026-03-01T12:00:12Z");

function outage(incidentId: number, over: Partial<Examined> = {}): Examined & { readonly cause: string } {
  const given = { host: "a.example", causeCode: "timeout", confirmedAt: new Date(AT), cause: `cause of ${incidentId}` };
  return { incidentId, ...given, ...over };
}

const FIRST = outage(123, { confirmedAt: new Date(AT - 12_000) });
const LINES = ["cause of 123", "Changed since 11:00: status 200 -> 500", "Fails from eu"];

describe("the lines of an outage that shares evidence", () => {
  it("of its own are as they were stored", () => {
    expect(adaptLines(FIRST, FIRST, LINES)).toEqual(LINES);
  });

  it("have its own cause, and say whose evidence they are", () => {
    expect(adaptLines(outage(124), FIRST, LINES)).toEqual([
      "cause of 124",
      "Changed since 11:00: status 200 -> 500",
      "Evidence of incident 123, confirmed 12 s earlier with the same cause. Fails from eu",
    ]);
  });

  it("say nothing about changes of another target, and that nothing was gathered for this one", () => {
    const [cause, changed, where] = adaptLines(outage(124, { host: "b.example" }), FIRST, LINES);
    expect(cause).toBe("cause of 124");
    expect(changed).not.toContain("200");
    expect(where).toBe(
      "Evidence of incident 123 (host a.example), confirmed 12 s earlier with the same cause; " +
        "nothing was gathered for this target. Fails from eu",
    );
  });

  it("say so if the causes differ", () => {
    expect(nameGathered(outage(124, { causeCode: "refused" }), FIRST)).toBe(
      "incident 123, confirmed 12 s earlier at the same host with another cause",
    );
  });

  it.each([
    [12, "12 s earlier"],
    [0.4, "at the same time"],
    [-3, "3 s later"],
  ])("say when the other was confirmed (%d s before)", (seconds, words) => {
    const other = outage(123, { confirmedAt: new Date(AT - seconds * 1_000) });
    expect(describeSharing(outage(124), other)).toBe(
      `The evidence is that of incident 123, confirmed ${words} with the same cause`,
    );
  });
});
