import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { catalogueRow, createCatalogue } from "#control-plane/surfaces/catalogue/document.ts";

describe("the catalogue as text", () => {
  it("contains the rows, with `allowed` for the scopes", () => {
    const { text } = createCatalogue(CONTRACTS)(["dns", "ssl"], false);
    const rows = CONTRACTS.map((contract) => catalogueRow(contract, ["dns", "ssl"].includes(contract.scope)));
    expect(JSON.parse(`${text}}`)).toEqual({ data: JSON.parse(JSON.stringify(rows)) });
  });

  it("has a separate tag for each set of scopes, with and without schemas", () => {
    const catalogue = createCatalogue(CONTRACTS);
    const tags = [catalogue(["dns"], false), catalogue(["ssl"], false), catalogue(["dns"], true)].map(
      ({ hash }) => hash,
    );
    expect(new Set(tags).size).toBe(3);
    expect(createCatalogue(CONTRACTS)(["dns"], false).hash).toBe(tags[0]);
  });

  it("is ASCII regardless of the contracts' texts, also for supplementary characters", () => {
    const [first] = CONTRACTS;
    if (first === undefined) throw new Error("no contracts");
    const summary = "Größe ≤ 5 µs 🌍";
    const { text } = createCatalogue([{ ...first, summary }])(["check"], false);
    expect(text).toMatch(/^[\p{ASCII}]*$/u);
    expect((JSON.parse(`${text}}`) as { data: { summary: string }[] }).data[0]?.summary).toBe(summary);
  });
});
