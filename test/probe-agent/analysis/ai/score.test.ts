import { describe, expect, it } from "vitest";
import { scoreAi, type AiFacts } from "#probe-agent/analysis/ai/score.ts";

const ALL: AiFacts = {
  robotsReadable: true,
  welcomeShare: 1,
  text: { words: 400, ratio: 0.02 },
  structuredData: true,
  llmsTxt: true,
  sitemap: true,
  semanticMarks: 4,
  description: true,
  preferenceStated: true,
  noBlanketBan: true,
};

describe("readiness for AI", () => {
  it("is the sum of the published parts", () => {
    const { score, grade, checks } = scoreAi(ALL);
    expect([score, grade]).toEqual([100, "A+"]);
    expect(Object.fromEntries(checks.map(({ id, max }) => [id, max]))).toEqual({
      robots: 10,
      crawlers: 20,
      static_text: 20,
      structured_data: 10,
      llms_txt: 10,
      sitemap: 5,
      semantic_html: 10,
      description: 5,
      preference: 5,
      no_blanket_ban: 5,
    });
  });

  it("leaves out what could not be told", () => {
    const nothing = Object.fromEntries(Object.keys(ALL).map((key) => [key, null])) as unknown as AiFacts;
    expect(scoreAi(nothing).score).toBe(0);
    expect(scoreAi({ ...nothing, sitemap: true })).toMatchObject({ score: 100 });
    expect(scoreAi({ ...ALL, llmsTxt: null }).score).toBe(100);
  });

  it("never falls when a part gets better", () => {
    for (const key of Object.keys(ALL) as (keyof AiFacts)[]) {
      const worse = key === "text" ? { words: 10, ratio: 0 } : typeof ALL[key] === "number" ? 0 : false;
      expect(scoreAi({ ...ALL, [key]: worse }).score).toBeLessThan(100);
    }
  });

  it("counts a short page that is nearly all text as readable", () => {
    expect(scoreAi({ ...ALL, text: { words: 60, ratio: 0.5 } }).score).toBe(100);
    expect(scoreAi({ ...ALL, text: { words: 5, ratio: 0.9 } }).checks[2]).toMatchObject({ score: 0, status: "fail" });
  });
});
