import { describe, expect, it } from "vitest";
import { AI_ADVICE, aiFindings } from "#probe-agent/tools/ai-check/findings.ts";
import { gradeParts, type AiFacts } from "#probe-agent/tools/ai-check/parts.ts";
import { scoreAi } from "#probe-agent/tools/ai-check/score.ts";
import { semanticHtml } from "#probe-agent/tools/ai-check/semantics.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { readContent } from "#probe-agent/tools/seo-audit/content.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

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
  const allowing = (allowed: number) => ({ crawlers: { known: 12, allowed } });
  const words = (count: number) => ({ text: { words: count, ratio: 0 } });
  const llms = (exists: boolean, ...errors: string[]) => ({
    llmsTxt: { exists, valid: false, isPage: false, errors },
  });
  const error = (status: number) => ({ robotsStatus: status, robotsReadable: false });
  const rows: readonly (readonly [over: Partial<AiFacts>, id: string, status: string, detail: string])[] = [
    [{}, "robots", "pass", "robots.txt is readable."],
    [{ robotsStatus: 404 }, "robots", "pass", "There is no robots.txt (status 404), so every URL is allowed."],
    [error(503), "robots", "fail", "robots.txt is served with status 503, so crawlers treat every URL as disallowed."],
    [error(200), "robots", "fail", "robots.txt is served with status 200, and none of its lines is a rule."],
    [{ robotsStatus: null, robotsReadable: null }, "robots", "na", "robots.txt could not be fetched."],
    ...(
      [
        [12, "pass"],
        [5, "partial"],
        [0, "fail"],
      ] as const
    ).map(
      ([allowed, status]) =>
        [
          allowing(allowed),
          "crawlers",
          status,
          `robots.txt allows ${allowed} of 12 crawlers of AI search and assistants to fetch the site.`,
        ] as const,
    ),
    [{}, "static_text", "pass", "The HTML contains 400 words before any script runs."],
    [words(100), "static_text", "partial", "The HTML contains 100 words before any script runs."],
    [words(0), "static_text", "fail", "The HTML contains 0 words before any script runs."],
    [{ text: null }, "static_text", "na", "The response is not HTML."],
    [{ structuredData: false }, "structured_data", "fail", "The page has no structured data."],
    [llms(false), "llms_txt", "fail", "There is no /llms.txt."],
    [llms(true, "line 3 is a"), "llms_txt", "fail", "llms.txt does not follow the proposal: line 3 is a."],
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

describe("findings", () => {
  const NO_ELEMENT = { main: false, article: false, nav: false, header: false, footer: false };
  const worst = (over: Partial<AiFacts> = {}) =>
    score({
      robotsReadable: false,
      crawlers: { known: 13, allowed: 0 },
      text: { words: 0, ratio: 0 },
      structuredData: false,
      llmsTxt: { exists: true, valid: false, isPage: false, errors: ["a", "b", "c", "d"].map((one) => `it is ${one}`) },
      sitemap: false,
      semantic: { ...NO_ELEMENT, h1: 0, headings_ordered: false },
      description: false,
      preferenceStated: false,
      bans: ["noai"],
      ...over,
    }).checks;

  it("are one with advice for each check that is not met; none is critical, as blocking AI is a choice", () => {
    const findings = aiFindings(worst(), []);
    expect(kinds(findings)).toEqual([
      "warning robots",
      "warning crawlers",
      "warning static-text",
      "info structured-data",
      "info llms-txt",
      "info sitemap",
      "info semantic-html",
      "info description",
      "info preference",
      "info no-blanket-ban",
    ]);
    expect(findings).toHaveLength(Object.keys(AI_ADVICE).length);
    for (const finding of findings) expect(finding.how?.length).toBeGreaterThan(30);
    expectWellFormed(findings);
  });

  it("on a check that is met in part are info, and name the blocked crawlers", () => {
    const blocked = ["OAI-SearchBot", "ChatGPT-User", "a", "b", "c", "d"];
    const checks = worst({ crawlers: { known: 13, allowed: 7 } }).filter(({ id }) => id === "crawlers");
    const [crawlers] = aiFindings(checks, blocked);
    expect(crawlers?.severity).toBe("info");
    expect(crawlers?.message).toMatch(/ robots\.txt blocks OAI-SearchBot, ChatGPT-User, a, b, c and others\.$/);
  });

  it("name the first errors of llms.txt and how many more there are", () => {
    expect(aiFindings(worst(), []).find(({ id }) => id === "llms-txt")).toMatchObject({
      where: "/llms.txt",
      message: "llms.txt does not follow the proposal: it is a; it is b; it is c (and 1 more).",
    });
  });
});
