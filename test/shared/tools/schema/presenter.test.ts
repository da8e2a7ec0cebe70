import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { schema } from "#shared/tools/schema/contract.ts";

const NOTHING = {
  items: [],
  items_total: 0,
  types: [],
  rich_results: [],
  formats: { json_ld: [], microdata: [], rdfa: [], opengraph: [] },
  findings: [],
};

describe("the presentation of schema", () => {
  it("names the rich results that a page is ready for, and its items", () => {
    const shown = presentExample(schema);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(
      "shop.test: 3 items of structured data, ready for Organization, Product, Merchant listing, Breadcrumb",
    );
    expect(shown.tables[1]?.rows.map(({ cells }) => cells[2])).toEqual(["Oak & Lumen", "Lantern No. 4", ""]);
  });

  it("names the rich results whose required properties are missing, and the properties", () => {
    const shown = presentExample(schema, ({ rich_results: rich, findings }) => ({
      rich_results: rich.map((one) =>
        one.feature === "Product" ? { ...one, eligible: false, missing_required: ["name", "offers.price"] } : one,
      ),
      findings: findings.map((one) => ({ ...one, severity: "warning" })),
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test: 3 items of structured data, required properties are missing for Product");
    expect(shown.tables[0]?.rows[1]).toMatchObject({ cells: ["Product", "no", "name, offers.price", "25"] });
  });

  it("judges a page without structured data not at all, and one whose data cannot be read by its findings", () => {
    const none = presentExample(schema, () => NOTHING);
    expect([none.verdict, none.headline, none.tables]).toEqual(["neutral", "shop.test has no structured data", []]);
    const broken = presentExample(schema, ({ findings }) => ({
      ...NOTHING,
      findings: findings.map((one) => ({ ...one, severity: "warning" })),
    }));
    expect([broken.verdict, broken.headline]).toEqual(["warning", "shop.test: its structured data cannot be read"]);
  });

  it("does not miss properties of a rich result that no longer exists", () => {
    const shown = presentExample(schema, ({ rich_results: [first], findings }) => ({
      rich_results: [{ ...first, eligible: false, deprecated: true, missing_required: ["x"], note: "ended 2025-06" }],
      findings,
    }));
    expect(shown.headline).toBe("shop.test: 3 items of structured data, no rich results");
    expect(factOf(shown, "Not eligible for")).toBeNull();
  });
});
