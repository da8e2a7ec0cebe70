import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Site } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  integer,
  list,
  number,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const Rule = Type.Object({
  type: word(["allow", "disallow"], "allow or disallow"),
  pattern: text("Path pattern, percent-encoded where it is not ASCII"),
  line: integer("Line of the file, from 1"),
});

const Group = Type.Object({
  user_agents: texts("Product tokens the rules are for; * for everyone"),
  rules: list(Rule, "Its rules in the order of the file"),
  crawl_delay: Nullable(number("Crawl-delay, seconds; not part of RFC 9309; null where there is none")),
});

const Tested = Type.Object({
  ua: text("Product token"),
  allowed: truth("Whether it may fetch the URL"),
  matched_rule: Nullable(text("The deciding rule as key: pattern; null where no rule matched")),
  line: Nullable(integer("Line of that rule, from 1")),
  group: word(
    ["specific", "global", "none"],
    "specific: a group names it; global: the group of *; none: no group applies",
  ),
});

const Bot = Type.Object({
  name: text("Product token"),
  operator: text("Who runs it"),
  purpose: word(["train", "search", "assistant", "agent"], "What it fetches for"),
  allowed: truth("Whether it may fetch the site's root"),
  named: truth("Whether a group names it"),
});

const Signals = record(
  {
    search: Nullable(truth("May be used to build a search index")),
    ai_input: Nullable(truth("May be put into an AI model's input for an answer")),
    ai_train: Nullable(truth("May be used to train AI models")),
  },
  "Content-Signal of the group for everyone; null where nothing is said",
);

const Result = Type.Object({
  domain: text("Site as asked for"),
  fetched_url: text("URL of the file, after redirects"),
  code: integer("HTTP status of the file"),
  availability: word(
    ["parsed", "allow_all", "disallow_all"],
    "parsed: rules apply; allow_all: there is none (4xx); disallow_all: it cannot be had (5xx), which crawlers take as a ban (RFC 9309 section 2.3.1)",
  ),
  content_type: Nullable(text("Content-Type as sent")),
  size_bytes: count("Size read, bytes"),
  truncated: truth("It is larger than 500 KiB: crawlers need not read the rest (RFC 9309 section 2.5)"),
  groups: list(Group, "Groups in the order of the file"),
  sitemaps: texts("Sitemap URLs"),
  content_signals: Signals,
  content_usage: Nullable(text("Content-Usage preference (IETF aipref) as written; null without one")),
  unknown_lines: list(
    Type.Object({ line: integer("Line, from 1"), key: text("Key as written"), value: text("Its value") }),
    "Lines with a key that RFC 9309 does not know; they end no group",
  ),
  test: record(
    { url: text("URL tested"), user_agents: list(Tested, "Search engines, AI crawlers, and everyone (*)") },
    "Who may fetch test_url, or the site's root without one",
  ),
  ai_bots: record(
    {
      bots: list(Bot, "Crawlers of AI services"),
      allowed: count("How many may fetch the root"),
      disallowed: count("How many may not"),
    },
    "Crawlers of AI services at the site's root",
  ),
  findings: findings("What is wrong with the file, worst first; where: the line"),
  ...OBSERVED_FIELDS,
});
/** Values of the tool's result. */
export type RobotsResult = Static<typeof Result>;

/** Who may crawl a site. */
export const robots = defineTool({
  name: "robots",
  title: "robots.txt",
  summary: "The rules of a site's robots.txt, what is wrong with it, and who may fetch a URL by them",
  scope: "check",
  toolset: "page",
  target: { param: "domain", kind: "site", connects: true },
  example: { domain: "example.com", test_url: "https://example.com/private" },
  params: Type.Object({
    domain: Site({ description: "Site: host, host:port or URL" }),
    test_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 8192,
        examples: ["/private"],
        description: "URL, or path of the site, to test the rules with; example.org/x means https://example.org/x",
      }),
    ),
  }),
  result: Result,
  deadlineMs: () => 30_000,
  open: { q: "domain", extra: ["test_url"] },
  across: {
    agreeOn: ({ code, groups }: Static<typeof Result>) => [code, groups],
    measure: () => ({}),
  },
});
