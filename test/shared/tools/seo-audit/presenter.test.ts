import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { seoAudit } from "#shared/tools/seo-audit/contract.ts";

describe("the presentation of seo-audit", () => {
  it("begins with the grade", () => {
    const shown = presentExample(seoAudit);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: grade A+, 100 of 100 points");
    expect(factOf(shown, "Checks")).toBe("12 of 12 passed");
  });

  it("says what to mend first: the failed check with the largest share of the score", () => {
    const failed = new Set(["lang", "document-title", "unheard-of"]);
    const shown = presentExample(seoAudit, ({ checks: [first, ...checks] }) => ({
      grade: "C",
      score: 72,
      title: null,
      checks: [
        ...checks.map((one) => (failed.has(one.id) ? { ...one, status: "fail", value: null } : one)),
        { ...first, id: "unheard-of", status: "fail", weight: 1 },
      ],
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test: grade C, 72 of 100 points. Mend first: title");
    expect(shown.tables[0]?.rows.slice(0, 4).map(({ cells, tone }) => [cells[0], tone])).toEqual([
      ["Title", "warning"],
      ["Language of the page", "warning"],
      ["Unheard of", "warning"],
      ["Description", undefined],
    ]);
    expect(factOf(shown, "Title")).toBe("none");
  });

  it("says first that search engines may not index the page, and which rule keeps them out", () => {
    const shown = presentExample(seoAudit, ({ indexable }) => ({
      indexable: {
        ...indexable,
        value: false,
        blocked_by: [{ source: "meta_robots", user_agent: "*", rule: "noindex" }],
      },
    }));
    expect(shown.headline).toBe("Search engines may not index shop.test: the robots meta element says noindex");
    expect(shown.tables[1]?.rows[0]?.cells).toEqual(["all", "the robots meta element", "noindex"]);
  });

  it("is never bad for a low grade alone, and bad for a server error", () => {
    expect(presentExample(seoAudit, () => ({ grade: "F", score: 12 })).verdict).toBe("warning");
    expect(presentExample(seoAudit, () => ({ grade: "F", score: 12, code: 500 }))).toMatchObject({
      verdict: "bad",
      headline: "shop.test (an error page, status 500): grade F, 12 of 100 points",
    });
  });

  it("shows a response that is not HTML by what is known of it", () => {
    const shown = presentExample(seoAudit, ({ canonical }) => ({
      title: null,
      meta_description: null,
      headings: null,
      images: null,
      links: null,
      lang: null,
      word_count: null,
      structured_data: null,
      canonical: { ...canonical, url: null, self: null },
      hreflang: [],
      hreflang_group: { total: 0, x_default: false, self_reference: null },
      limitations: [],
    }));
    expect(shown.facts.map(({ label }) => label)).toEqual([
      "Grade",
      "May be indexed",
      "Checks",
      "Title",
      "Description",
      "Canonical",
      "Language",
      "Sitemap",
    ]);
  });
});
