import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { wayback } from "#shared/tools/wayback/contract.ts";

describe("the presentation of wayback", () => {
  it("says how often a page was archived, since when and when last, and judges nothing", () => {
    const shown = presentExample(wayback);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("shop.test: archived 5 times since 2019, last 289 days ago");
    expect(factOf(shown, "First")).toBe("2019-06-11 (7 years ago)");
    expect(shown.tables[0]?.rows.map(({ cells }) => cells)).toEqual([
      ["2026", "1"],
      ["2023", "1"],
      ["2020", "2"],
      ["2019", "1"],
    ]);
  });

  it("says that a page is not archived, without further facts", () => {
    const shown = presentExample(wayback, () => ({
      archived: false,
      snapshots_total: 0,
      first: null,
      last: null,
      closest: null,
      years: {},
    }));
    expect(shown.headline).toBe("shop.test is not in the Internet Archive");
    expect(shown.facts.map(({ label }) => label)).toEqual(["Snapshots"]);
    expect(shown.tables).toEqual([]);
  });

  it("falls back to the closest snapshot if the archive did not count them", () => {
    const shown = presentExample(wayback, () => ({ snapshots_total: null, first: null, last: null, years: {} }));
    expect(shown.headline).toBe("shop.test: archived, last 289 days ago");
    expect(factOf(shown, "Snapshots")).toBe("not counted");
    expect(factOf(shown, "Last copy")).toContain("/20260211120000/");
  });
});
