import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { pagespeed } from "#shared/tools/pagespeed/contract.ts";

const NO_METRICS = { fcp_ms: null, lcp_ms: null, tbt_ms: null, cls: null, speed_index_ms: null, ttfb_ms: null };
const NO_SCORES = { performance: null, accessibility: null, best_practices: null, seo: null };

describe("the presentation of pagespeed", () => {
  it("begins with the score, the main content and what real visits see", () => {
    const shown = presentExample(pagespeed);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(
      "shop.test on mobile: performance 93 of 100, main content after 2.76 s, real visits are fast",
    );
    expect(shown.facts[1]).toEqual({ label: "Main content (LCP)", value: "2.76 s", tone: "warning" });
    expect(shown.tables[0]?.rows[0]?.cells).toEqual(["Main content (LCP)", "1.84 s", "fast", "1.84 s", "fast"]);
  });

  it("is a warning for a slow page, and marks what is slow for real visits", () => {
    const shown = presentExample(pagespeed, ({ scores, field_data: { url } }) => ({
      scores: { ...scores, performance: 34 },
      field_data: {
        url: null,
        origin: url === null ? null : { ...url, overall_category: "slow", inp: { ...url.inp, category: "slow" } },
      },
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toMatch(/performance 34 of 100, .*, real visits are slow$/);
    expect(shown.tables[0]?.columns.map(({ label }) => label)).toEqual(["Metric", "Whole site", "Rating"]);
    expect(shown.tables[0]?.rows.at(-1)).toEqual({
      cells: ["Reaction to input (INP)", "120 ms", "slow"],
      tone: "warning",
    });
  });

  it("shows a load in the probe's own browser without scores and visits", () => {
    const shown = presentExample(pagespeed, () => ({
      source: "local",
      scores: NO_SCORES,
      field_data: { url: null, origin: null },
      opportunities: [],
      loaded: {
        requests: 12,
        bytes: 240_000,
        by_kind: [
          { kind: "script", requests: 2, bytes: 40_000 },
          { kind: "image", requests: 9, bytes: 190_000 },
        ],
        failed_requests: 1,
      },
    }));
    expect(shown.headline).toBe("shop.test on mobile: main content after 2.76 s");
    expect(factOf(shown, "Loaded")).toBe("240 kB in 12 requests");
    expect(factOf(shown, "Failed requests")).toBe("1");
    expect(shown.tables.map(({ title, rows }) => [title, rows[0]?.cells[0]])).toEqual([["Loaded by kind", "image"]]);
  });

  it("says that nothing could be measured", () => {
    const shown = presentExample(pagespeed, () => ({
      scores: NO_SCORES,
      metrics: NO_METRICS,
      field_data: { url: null, origin: null },
      findings: [],
    }));
    expect(shown.headline).toBe("shop.test on mobile: nothing could be measured");
    expect(shown.verdict).toBe("neutral");
  });
});
