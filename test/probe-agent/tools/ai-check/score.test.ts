import { describe, expect, it } from "vitest";
import { gradeParts, type AiFacts } from "#probe-agent/tools/ai-check/parts.ts";
import { scoreAi } from "#probe-agent/tools/ai-check/score.ts";
import { semanticHtml } from "#probe-agent/tools/ai-check/semantics.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { readContent } from "#probe-agent/tools/seo-audit/content.ts";

const SEMANTIC = semanticHtml(readHtml("<main><article><h1>x</h1><h2>y</h2></article></main>"));
const ALL: AiFacts = {
  robotsStatus: 200,
  robotsReadable: true,
  crawlers: { known: 12, allowed: 12 },
  text: { words: 400, ratio: 0.02 },
  structuredData: true,
  llmsTxt: { exists: true, valid: true, isPage: false, errors: [] },
  sitemap: true,
  semantic: SEMANTIC,
  description: true,
  preferenceStated: true,
  bans: [],
};
const score = (over: Partial<AiFacts> = {}) => scoreAi(gradeParts({ ...ALL, ...over }));
const NOTHING: AiFacts = {
  robotsStatus: null,
  robotsReadable: null,
  crawlers: { known: 0, allowed: 0 },
  text: null,
  structuredData: null,
  llmsTxt: null,
  sitemap: null,
  semantic: null,
  description: null,
  preferenceStated: false,
  bans: ["noai"],
};

describe("readiness for AI", () => {
  it("is the sum of the published parts", () => {
    const { score: points, grade, checks } = score();
    expect([points, grade]).toEqual([100, "A+"]);
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

  it("leaves out unknown parts", () => {
    expect(scoreAi(gradeParts(NOTHING)).score).toBe(0);
    expect(scoreAi(gradeParts({ ...NOTHING, sitemap: true, bans: [] }))).toMatchObject({ score: 100 });
    expect(score({ llmsTxt: null }).score).toBe(100);
  });

  it("counts a short page that is nearly all text as readable", () => {
    expect(score({ text: { words: 60, ratio: 0.5 } }).score).toBe(100);
    expect(score({ text: { words: 5, ratio: 0.9 } }).checks[2]).toMatchObject({ score: 0, status: "fail" });
  });
});

describe("the detail of each part says what was found", () => {
  const page = (html: string) => ({ semantic: semanticHtml(readHtml(html)) });
  const rows: readonly (readonly [over: Partial<AiFacts>, id: string, status: string, detail: string])[] = [
    [{}, "robots", "pass", "robots.txt is readable."],
    [{ robotsStatus: 404 }, "robots", "pass", "There is no robots.txt (status 404), so every URL is allowed."],
    [
      { robotsStatus: 503, robotsReadable: false },
      "robots",
      "fail",
      "robots.txt is served with status 503, so crawlers treat every URL as disallowed.",
    ],
    [
      { robotsReadable: false },
      "robots",
      "fail",
      "robots.txt is served with status 200, and none of its lines is a rule.",
    ],
    [{ robotsStatus: null, robotsReadable: null }, "robots", "na", "robots.txt could not be fetched."],
    [{}, "crawlers", "pass", "robots.txt allows 12 of 12 crawlers of AI search and assistants to fetch the site."],
    [
      { crawlers: { known: 12, allowed: 5 } },
      "crawlers",
      "partial",
      "robots.txt allows 5 of 12 crawlers of AI search and assistants to fetch the site.",
    ],
    [
      { crawlers: { known: 12, allowed: 0 } },
      "crawlers",
      "fail",
      "robots.txt allows 0 of 12 crawlers of AI search and assistants to fetch the site.",
    ],
    [{}, "static_text", "pass", "The HTML contains 400 words before any script runs."],
    [
      { text: { words: 100, ratio: 0 } },
      "static_text",
      "partial",
      "The HTML contains 100 words before any script runs.",
    ],
    [{ text: { words: 0, ratio: 0 } }, "static_text", "fail", "The HTML contains 0 words before any script runs."],
    [{ text: null }, "static_text", "na", "The response is not HTML."],
    [{ structuredData: false }, "structured_data", "fail", "The page has no structured data."],
    [
      { llmsTxt: { exists: false, valid: false, isPage: false, errors: [] } },
      "llms_txt",
      "fail",
      "There is no /llms.txt.",
    ],
    [
      { llmsTxt: { exists: true, valid: false, isPage: false, errors: ["line 3 is a second title"] } },
      "llms_txt",
      "fail",
      "llms.txt does not follow the proposal: line 3 is a second title.",
    ],
    [{ llmsTxt: null }, "llms_txt", "na", "/llms.txt could not be fetched or read."],
    [{ sitemap: false }, "sitemap", "fail", "robots.txt names no sitemap, and /sitemap.xml is not a sitemap."],
    [{}, "semantic_html", "pass", "The page marks its parts with semantic elements."],
    [page("<main><h1>x</h1>"), "semantic_html", "partial", "The page lacks an article element."],
    [
      page("<h1>x</h1><h1>y</h1><h3>z</h3>"),
      "semantic_html",
      "fail",
      "The page lacks a main element, an article element, a single h1 heading (there are 2), headings that begin with h1 and skip no level.",
    ],
    [page("<p>"), "semantic_html", "fail", "The page lacks a main element, an article element, an h1 heading."],
    [{ description: false }, "description", "fail", "The page has neither a meta description nor og:description."],
    [
      { preferenceStated: false },
      "preference",
      "fail",
      "No Content-Signal, Content-Usage or TDM reservation states preferences on AI use.",
    ],
    [
      { bans: ["noai"] },
      "no_blanket_ban",
      "fail",
      "The page has directives for every crawler that forbid AI use or snippets: noai.",
    ],
  ];
  it.each(rows)("%o: %s", (over, id, status, detail) => {
    expect(score(over).checks.find((check) => check.id === id)).toMatchObject({ status, detail });
  });

  it("is never the same for a part that passes and a part that fails", () => {
    const passing = new Map(score().checks.map(({ id, detail }) => [id, detail]));
    const seen = new Set<string>();
    for (const [over] of rows) {
      for (const { id, status, detail } of score(over).checks) {
        if (status === "pass") continue;
        seen.add(id);
        expect(detail).not.toBe(passing.get(id));
      }
    }
    expect(seen).toEqual(new Set(passing.keys()));
  });
});

describe("a fault costs points in one part only", () => {
  const failing = (over: Partial<AiFacts>) =>
    score(over)
      .checks.filter(({ status }) => status === "fail" || status === "partial")
      .map(({ id }) => id);

  it("fails only the part robots if robots.txt is served with an error", () => {
    const broken = { robotsStatus: 500, robotsReadable: false, crawlers: { known: 12, allowed: 0 } };
    expect(failing({ ...broken, preferenceStated: false })).toEqual(["robots"]);
  });

  it("counts a missing h1 as one of three marks, not as two of four", () => {
    const points = (html: string) =>
      score({ semantic: semanticHtml(readHtml(`<main><article>${html}</article></main>`)) }).checks.find(
        ({ id }) => id === "semantic_html",
      )?.score;
    expect([points("<h1>x</h1>"), points("<h2>x</h2>"), points("<h1>x</h1><h3>y</h3>"), points("<p>")]).toEqual([
      10, 7, 8, 7,
    ]);
  });
});

it("grades heading order the same in ai-check and seo-audit", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["", false],
    ["<h1>a</h1>", true],
    ["<h2>a</h2>", false],
    ["<h2>a</h2><h1>b</h1>", false],
    ["<h1>a</h1><h2>b</h2><h3>c</h3><h2>d</h2>", true],
    ["<h1>a</h1><h3>b</h3>", false],
    ["<h1>a</h1><h2>b</h2><h1>c</h1><h2>d</h2>", true],
    ["<h1>a</h1><template><h4>b</h4></template>", true],
    ["<H1>a</H1><hr><h7>x</h7><hgroup><h2>b</h2></hgroup>", true],
  ];
  for (const [html, ordered] of rows) {
    const page = readHtml(html);
    expect(semanticHtml(page).headings_ordered).toBe(ordered);
    expect(readContent(page, "https://example.com/").headings.outline_ok).toBe(ordered);
  }
});
