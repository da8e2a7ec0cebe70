import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { aiCheck } from "#shared/tools/ai-check/contract.ts";

describe("the presentation of ai-check", () => {
  it("begins with the grade and the AI crawlers that are kept out", () => {
    const shown = presentExample(aiCheck);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: AI readiness A+, 100 of 100; robots.txt keeps out 2 AI crawlers");
    expect(factOf(shown, "Stated use")).toBe("search yes, AI answers yes, AI training no");
    expect(shown.tables[1]).toMatchObject({ title: "AI crawlers that are kept out", more: 1 });
  });

  it("says that all AI crawlers are kept out, which is a warning at most", () => {
    const shown = presentExample(aiCheck, ({ robots, meta }) => ({
      grade: "F",
      score: 20,
      robots: { ...robots, allowed: 0, disallowed: 30 },
      meta: { ...meta, noai: true, nosnippet: true },
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test: AI readiness F, 20 of 100; robots.txt keeps out all AI crawlers");
    expect(factOf(shown, "Bans on all AI")).toBe("noai, nosnippet");
  });

  it("says that a page has no text before scripts run", () => {
    const shown = presentExample(aiCheck, () => ({ ssr_words: 0 }));
    expect(shown.headline).toMatch(/; the page has no text before scripts run$/);
  });

  it("lists the checks that cost most points first, and those that do not count last", () => {
    const shown = presentExample(aiCheck, ({ checks }) => ({
      checks: checks.map((one) =>
        one.id === "llms_txt"
          ? { ...one, score: 0, status: "fail" }
          : one.id === "robots"
            ? { ...one, score: 0, status: "na" }
            : one,
      ),
    }));
    const rows = shown.tables[0]?.rows ?? [];
    expect(rows[0]).toMatchObject({ cells: ["llms.txt", "0 of 10", "There is a valid /llms.txt."], tone: "warning" });
    expect(rows.at(-1)?.cells.slice(0, 2)).toEqual(["robots.txt", "not counted"]);
  });

  it("shows a site that states and publishes nothing", () => {
    const nothing = { exists: false, code: null, bytes: null };
    const shown = presentExample(aiCheck, ({ llms_txt: llms, robots }) => ({
      code: 404,
      robots: { ...robots, code: null, bots: [], allowed: 0, disallowed: 0 },
      content_signals: { search: null, ai_input: null, ai_train: null },
      llms_txt: { ...llms, ...nothing, valid: false },
      ai_txt: nothing,
      feeds: [],
      structured_data: { found: false, types: [] },
    }));
    expect(shown.headline).toBe("shop.test (an error page, status 404): AI readiness A+, 100 of 100");
    expect([factOf(shown, "Stated use"), factOf(shown, "llms.txt"), factOf(shown, "Structured data")]).toEqual([
      "nothing",
      "none",
      "none",
    ]);
    expect(shown.tables.map(({ title }) => title)).toEqual(["Checks"]);
  });
});
