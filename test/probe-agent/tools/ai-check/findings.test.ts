import { expect, it } from "vitest";
import { AI_ADVICE, aiFindings } from "#probe-agent/tools/ai-check/findings.ts";
import { gradeParts, type AiFacts } from "#probe-agent/tools/ai-check/parts.ts";
import { scoreAi } from "#probe-agent/tools/ai-check/score.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const WORST: AiFacts = {
  robotsStatus: 200,
  robotsReadable: false,
  crawlers: { known: 13, allowed: 0 },
  text: { words: 0, ratio: 0 },
  structuredData: false,
  llmsTxt: {
    exists: true,
    valid: false,
    isPage: false,
    errors: ["line 2 is a", "line 3 is b", "line 4 is c", "line 5 is d"],
  },
  sitemap: false,
  semantic: { main: false, article: false, nav: false, header: false, footer: false, h1: 0, headings_ordered: false },
  description: false,
  preferenceStated: false,
  bans: ["noai"],
};

const checksOf = (over: Partial<AiFacts>) => scoreAi(gradeParts({ ...WORST, ...over })).checks;

it("returns a finding with advice for each check that is not met; none is critical, as blocking AI is a choice", () => {
  const findings = aiFindings(checksOf({}), []);
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

it("grades a check that is met in part as info, and names the blocked crawlers", () => {
  const blocked = ["OAI-SearchBot", "ChatGPT-User", "a", "b", "c", "d"];
  const [crawlers] = aiFindings(
    checksOf({ robotsReadable: true, crawlers: { known: 13, allowed: 7 } }).filter(({ id }) => id === "crawlers"),
    blocked,
  );
  expect(crawlers).toMatchObject({
    severity: "info",
    message:
      "robots.txt allows 7 of 13 crawlers of AI search and assistants to fetch the site. robots.txt blocks OAI-SearchBot, ChatGPT-User, a, b, c and others.",
  });
});

it("names the first errors of llms.txt and how many more there are", () => {
  const found = aiFindings(checksOf({}), []).find(({ id }) => id === "llms-txt");
  expect(found).toMatchObject({
    where: "/llms.txt",
    message: "llms.txt does not follow the proposal: line 2 is a; line 3 is b; line 4 is c (and 1 more).",
  });
});
