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
  pattern: text("Path pattern; characters that are not ASCII are percent-encoded"),
  line: integer("Line of the file, from 1"),
});

const Group = Type.Object({
  user_agents: texts("Product tokens that the rules are for; * for all crawlers"),
  rules: list(Rule, "Rules of the group, in the order of the file"),
  crawl_delay: Nullable(number("Crawl-delay in seconds, which is not part of RFC 9309; null if there is none")),
});

const Tested = Type.Object({
  ua: text("Product token"),
  allowed: truth("It is allowed to fetch the URL"),
  matched_rule: Nullable(text("The deciding rule as key: pattern; null if no rule matched")),
  line: Nullable(integer("Line of that rule, from 1")),
  group: word(
    ["specific", "global", "none"],
    "specific: a group names it; global: the group of *; none: no group applies",
  ),
});

const Bot = Type.Object({
  name: text("Product token"),
  operator: text("Operator of the crawler"),
  purpose: word(["train", "search", "assistant", "agent"], "Purpose of the crawler"),
  allowed: truth("It is allowed to fetch the site's root"),
  named: truth("A group names it"),
});

const Signals = record(
  {
    search: Nullable(truth("The content can be used to build a search index")),
    ai_input: Nullable(truth("The content can be used as input of an AI model for an answer")),
    ai_train: Nullable(truth("The content can be used to train AI models")),
  },
  "Content-Signal for all crawlers; null if it is not stated",
);

const Result = Type.Object({
  domain: text("Site as requested"),
  fetched_url: text("URL of the file, after redirects"),
  code: integer("HTTP status of the file"),
  availability: word(
    ["parsed", "allow_all", "disallow_all"],
    "parsed: the rules apply; allow_all: there is no file (4xx); disallow_all: the file is unavailable (5xx), so crawlers treat the site as disallowed (RFC 9309 section 2.3.1)",
  ),
  content_type: Nullable(text("Content-Type as sent")),
  size_bytes: count("Bytes that were read"),
  truncated: truth("The file is larger than 500 KiB: crawlers need not read the rest (RFC 9309 section 2.5)"),
  groups: list(Group, "Groups in the order of the file"),
  sitemaps: texts("Sitemap URLs"),
  content_signals: Signals,
  content_usage: Nullable(text("Content-Usage preference (IETF aipref), unchanged; null if there is none")),
  unknown_lines: list(
    Type.Object({ line: integer("Line, from 1"), key: text("Key, unchanged"), value: text("Value") }),
    "Lines with a key that RFC 9309 does not define. They do not end a group",
  ),
  test: record(
    { url: text("Tested URL"), user_agents: list(Tested, "Search engines, AI crawlers and *") },
    "Which crawlers are allowed to fetch test_url, or the site's root if it is absent",
  ),
  ai_bots: record(
    {
      bots: list(Bot, "Crawlers of AI services"),
      allowed: count("Number of crawlers that are allowed to fetch the root"),
      disallowed: count("Number of crawlers that are not"),
    },
    "Access of AI crawlers to the site's root",
  ),
  findings: findings("Problems of the file, worst first. where: the line"),
  ...OBSERVED_FIELDS,
});
/** Result of the tool. */
export type RobotsResult = Static<typeof Result>;

/** Rules of a site's robots.txt. */
export const robots = defineTool({
  name: "robots",
  title: "robots.txt",
  summary: "The rules of a site's robots.txt, its problems, and which crawlers are allowed to fetch a URL",
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
        description: "URL or path of the site to test the rules with. example.org/x means https://example.org/x",
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
