import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { catalogueRow, createCatalogue } from "#control-plane/surfaces/catalogue.ts";

describe("the catalogue as text", () => {
  it("is the rows, with what the scopes allow", () => {
    const text = createCatalogue(CONTRACTS)(["dns", "ssl"]);
    const rows = CONTRACTS.map((contract) => catalogueRow(contract, ["dns", "ssl"].includes(contract.scope)));
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(rows)));
  });

  it("is ASCII whatever the contracts say, beyond the basic plane too", () => {
    const [first] = CONTRACTS;
    if (first === undefined) throw new Error("no contracts");
    const summary = "Größe ≤ 5 µs 🌍";
    const text = createCatalogue([{ ...first, summary }])(["check"]);
    expect(text).toMatch(/^[\p{ASCII}]*$/u);
    expect((JSON.parse(text) as { summary: string }[])[0]?.summary).toBe(summary);
  });
});
