import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { reverseIp } from "#shared/tools/reverse-ip/contract.ts";

describe("the presentation of reverse-ip", () => {
  it("counts the names and those that still lead to the address", () => {
    const shown = presentExample(reverseIp);
    expect(shown).toMatchObject({
      verdict: "neutral",
      headline: "127.80.0.1: 7 names known, 5 of them lead here now",
    });
    expect(factOf(shown, "Complete")).toBe("no: no source knows every name of an address");
  });

  it("counts the names beyond the list, and does not guess which of them lead here", () => {
    const shown = presentExample(reverseIp, ({ domains }) => ({
      domains: domains.map((one, index) => ({ ...one, still_resolves: index === 0 ? null : one.still_resolves })),
      total: 900,
    }));
    expect(shown.headline).toBe("127.80.0.1: 900 names known, at least 4 of them lead here now");
    expect(shown.tables[0]?.more).toBe(893);
    expect(shown.tables[0]?.rows[0]?.cells[1]).toBe("not known");
  });

  it("names the content network, and says that no name is known", () => {
    const shown = presentExample(reverseIp, () => ({
      ptr: [],
      fcrdns: null,
      domains: [],
      total: 0,
      cdn: "Fastly",
      certificate: null,
      sources_used: [],
    }));
    expect(shown.headline).toBe("No name is known at 127.80.0.1 of the content network Fastly");
    expect(factOf(shown, "Reverse name")).toBeNull();
    expect(shown.tables).toEqual([]);
  });
});
