import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Site } from "#shared/tools/fields.ts";
import { robots } from "#shared/tools/robots/contract.ts";
import { HEADINGS_IN_ORDER } from "#shared/tools/seo-audit/contract.ts";
import {
  count,
  findings,
  integer,
  letterGrade,
  list,
  number,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  points,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const { ai_bots, content_signals, content_usage } = robots.result.properties;

const FILE = {
  exists: truth("Whether the file exists as text; an HTML page in its place does not count"),
  code: Nullable(integer("HTTP status; null if the request failed")),
  bytes: Nullable(count("Number of bytes read; null if there is no file")),
};

const LlmsTxt = record(
  {
    ...FILE,
    valid: truth("Whether the file follows the proposal (llmstxt.org)"),
    title: Nullable(text("Title of the file")),
    summary: Nullable(text("Quoted summary of the file")),
    sections: list(
      Type.Object({ name: text("Heading"), links: count("Number of links in the section") }),
      "Sections of the file, at most 100",
    ),
    links: count("Number of links in all sections"),
  },
  "/llms.txt",
);

const Result = Type.Object({
  domain: text("Requested site"),
  ...PAGE_FIELDS,
  score: points("Readiness for AI search and assistants; does not rate the site's quality"),
  grade: letterGrade("Grade of the score"),
  checks: list(
    Type.Object({
      id: text("Stable name of the check"),
      score: points("Points earned; 0 if the status is na"),
      max: points("Maximum points"),
      status: word(
        ["pass", "partial", "fail", "na"],
        "na: unknown, or counted by another check; left out of the score",
      ),
      detail: text("One sentence that says what was found, or why the check does not count if the status is na"),
    }),
    "Checks that make up the score; crawlers that train models are the owner's policy and not part of it",
  ),
  findings: findings("One finding for each check that is not met in full; worst first"),
  robots: record(
    {
      code: Nullable(integer("HTTP status of robots.txt; null if the request failed")),
      bots: ai_bots.properties.bots,
      allowed: ai_bots.properties.allowed,
      disallowed: ai_bots.properties.disallowed,
    },
    "Access of AI crawlers to the site's root according to robots.txt",
  ),
  content_signals,
  content_usage,
  llms_txt: LlmsTxt,
  llms_full_txt: record(FILE, "/llms-full.txt"),
  ai_txt: record(FILE, "/ai.txt"),
  tdmrep: record(
    {
      ...FILE,
      reserved: Nullable(
        truth(
          "Whether text and data mining rights are reserved for the root: by the page, else its header, else this file; " +
            "null if not stated",
        ),
      ),
    },
    "/.well-known/tdmrep.json (TDM Reservation Protocol)",
  ),
  mcp: record(
    {
      found: truth("Whether a description of an agent endpoint was found"),
      url: Nullable(text("URL of the description")),
    },
    "Well-known descriptions of agent endpoints",
  ),
  meta: record(
    {
      noai: truth("Whether noai applies to all crawlers, by the page or its headers"),
      noimageai: truth("Whether noimageai applies to all crawlers"),
      nosnippet: truth("Whether nosnippet or max-snippet:0 applies to all crawlers"),
      robots: texts("Robots directives of the page and its headers, with the crawler they are for"),
    },
    "Directives of the page for crawlers",
  ),
  structured_data: record(
    { found: truth("Whether there is any"), types: texts("Types found, at most 50") },
    "JSON-LD, Microdata and RDFa of the page",
  ),
  ssr_text_bytes: Nullable(count("Size of the visible text in the HTML before scripts run, in bytes of UTF-8")),
  ssr_words: Nullable(count("Number of words in that text")),
  text_ratio: Nullable(number("Visible text as a share of the HTML's characters, 0 to 1")),
  sitemap: record(
    {
      found: truth("Whether robots.txt names a sitemap or /sitemap.xml exists"),
      urls: texts("URLs of sitemaps, at most 20"),
    },
    "Sitemap",
  ),
  semantic_html: Nullable(
    record(
      {
        main: truth("Whether there is a main element"),
        article: truth("Whether there is an article element"),
        nav: truth("Whether there is a nav element"),
        header: truth("Whether there is a header element"),
        footer: truth("Whether there is a footer element"),
        h1: count("Number of h1 elements"),
        headings_ordered: HEADINGS_IN_ORDER,
      },
      "Semantic elements of the page; null if the page is not HTML",
    ),
  ),
  feeds: list(
    Type.Object({ type: text("Media type"), url: text("URL of the feed") }),
    "Feeds that the page links to (RSS, Atom, JSON), at most 20",
  ),
  md_alternate: record(
    {
      negotiated: Nullable(
        truth("Whether the site returns text/markdown when asked for it; null if the request failed"),
      ),
      linked: Nullable(text("URL of a Markdown version that the page links to")),
    },
    "The page as Markdown",
  ),
  ...OBSERVED_FIELDS,
});
/** Result of the ai-check tool. */
export type AiCheckResult = Static<typeof Result>;

/**
 * The ai-check tool: how well a site serves AI search and assistants, and its preferences on AI use. Blocking AI is a
 * choice, not a fault.
 */
export const aiCheck = defineTool({
  name: "ai-check",
  title: "AI readiness",
  summary:
    "Which AI crawlers a site allows, its preferences on AI use, and how readable its content is without scripts",
  scope: "check",
  toolset: "page",
  target: { param: "domain", kind: "site", connects: true },
  example: { domain: "example.com" },
  params: Type.Object({ domain: Site({ description: "Site: host, host:port or URL" }) }),
  result: Result,
  deadlineMs: () => 30_000,
  across: {
    agreeOn: ({ grade }: AiCheckResult) => grade,
    measure: () => ({}),
  },
});
