import { describe, expect, it } from "vitest";
import { adaptLines, describeSharing, type Examined } from "#control-plane/watching/evidence/shared.ts";

const AT = Date.parse("2026-03-01T12:00:12Z");

function outage(incidentId: number, over: Partial<Examined> = {}): Examined & { readonly cause: string } {
  const given = { host: "a.example", confirmedAt: new Date(AT), cause: `cause of ${incidentId}` };
  return { incidentId, ...given, ...over };
}

const FIRST = outage(123, { confirmedAt: new Date(AT - 12_000) });
const LINES = ["cause of 123", "Changed since 11:00: status 200 -> 500", "Fails from eu"];

describe("the lines of an outage that shares evidence", () => {
  it("of its own are as they were stored", () => {
    expect(adaptLines(FIRST, FIRST, LINES)).toEqual(LINES);
  });

  it("have its own cause, say whose evidence they are, and nothing about changes since the checks of another monitor", () => {
    const [cause, changed, where] = adaptLines(outage(124), FIRST, LINES);
    expect(cause).toBe("cause of 124");
    expect(changed).toMatch(/^Nothing was compared with earlier checks of this monitor, because /);
    expect(where).toBe(
      "Evidence of incident 123, confirmed 12 s earlier with the same target and cause. Fails from eu",
    );
  });

  it.each([
    [12, "12 s earlier"],
    [0.4, "at the same time"],
    [-3, "3 s later"],
  ])("say when the other was confirmed (%d s before)", (seconds, words) => {
    const other = outage(123, { confirmedAt: new Date(AT - seconds * 1_000) });
    expect(describeSharing(outage(124), other)).toBe(
      `The evidence is that of incident 123, confirmed ${words} with the same target and cause`,
    );
  });
});
