import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Site } from "#shared/tools/fields.ts";
import { robots } from "#shared/tools/robots.ts";
import { HEADINGS_IN_ORDER } from "#shared/tools/seo-audit/content.ts";
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
  exists: truth("It is there, as text: a page in its place does not count"),
  code: Nullable(integer("HTTP status; null where it could not be asked for")),
  bytes: Nullable(count("Size read, bytes; null where there is none")),
};

const LlmsTxt = record(
  {
    ...FILE,
    valid: truth("It follows the proposal (llmstxt.org)"),
    title: Nullable(text("Its title")),
    summary: Nullable(text("Its quoted summary")),
    sections: list(Type.Object({ name: text("Heading"), links: count("Links in it") }), "Its sections, at most 100"),
    links: count("Links in all sections"),
  },
  "/llms.txt",
);

const Result = Type.Object({
  domain: text("Site as asked for"),
  ...PAGE_FIELDS,
  score: points("Readiness for AI search and assistants; says nothing of the site's quality"),
  grade: letterGrade("By score"),
  checks: list(
    Type.Object({
      id: text("Stable name"),
      score: points("Points earned; 0 where na"),
      max: points("Points to be had"),
      status: word(
        ["pass", "partial", "fail", "na"],
        "na: could not be told, or counted by another check; left out of the score",
      ),
      detail: text("What was found, one sentence; where na, why it does not count"),
    }),
    "What the score is made of; crawlers that train models are policy and not part of it",
  ),
  findings: findings("One for each check that is not met in full; worst first"),
  robots: record(
    {
      code: Nullable(integer("HTTP status of robots.txt; null where it could not be asked for")),
      bots: ai_bots.properties.bots,
      allowed: ai_bots.properties.allowed,
      disallowed: ai_bots.properties.disallowed,
    },
    "Crawlers of AI services at the site's root, by robots.txt",
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
          "Text and data mining rights are reserved for the root: by the page, else its header, else this file; null where not said",
        ),
      ),
    },
    "/.well-known/tdmrep.json (TDM Reservation Protocol)",
  ),
  mcp: record(
    {
      found: truth("A description of an agent endpoint was found"),
      url: Nullable(text("Where")),
    },
    "Well-known descriptions of agent endpoints",
  ),
  meta: record(
    {
      noai: truth("noai for everyone, in the page or its headers"),
      noimageai: truth("noimageai for everyone"),
      nosnippet: truth("nosnippet or max-snippet:0 for everyone"),
      robots: texts("Robots directives of the page and its headers, with the crawler they are for"),
    },
    "What the page says to crawlers",
  ),
  structured_data: record(
    { found: truth("There is some"), types: texts("Types named, at most 50") },
    "JSON-LD, Microdata and RDFa of the page",
  ),
  ssr_text_bytes: Nullable(count("Visible text in the HTML as it comes, without scripts run, bytes of UTF-8")),
  ssr_words: Nullable(count("Words of it")),
  text_ratio: Nullable(number("Visible text as a share of the HTML's characters, 0 to 1")),
  sitemap: record(
    { found: truth("robots.txt names one, or /sitemap.xml is there"), urls: texts("Where, at most 20") },
    "Sitemap",
  ),
  semantic_html: Nullable(
    record(
      {
        main: truth("A main element"),
        article: truth("An article element"),
        nav: truth("A nav element"),
        header: truth("A header element"),
        footer: truth("A footer element"),
        h1: count("h1 elements"),
        headings_ordered: HEADINGS_IN_ORDER,
      },
      "Elements that say what is what; null where the page is no HTML",
    ),
  ),
  feeds: list(
    Type.Object({ type: text("Media type"), url: text("Address") }),
    "Feeds the page names (RSS, Atom, JSON), at most 20",
  ),
  md_alternate: record(
    {
      negotiated: Nullable(
        truth("Asked for text/markdown, the site answers with it; null where that could not be told"),
      ),
      linked: Nullable(text("Address of a Markdown version the page names")),
    },
    "The page as Markdown",
  ),
  ...OBSERVED_FIELDS,
});
/** Values of the tool's result. */
export type AiCheckResult = Static<typeof Result>;

/** How well a site serves AI search and assistants, and what it says about AI use. Blocking AI is a choice, not a fault. */
export const aiCheck = defineTool({
  name: "ai-check",
  title: "AI readiness",
  summary:
    "Which AI crawlers a site lets in, what it says of AI use, and how well its content can be read without scripts",
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
