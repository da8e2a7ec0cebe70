import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
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

/** Field for the order of headings, shared by all tools that report it. */
export const HEADINGS_IN_ORDER = truth(
  "Whether headings start with h1 and skip no level downwards; false without headings",
);

/** Headings of a page. */
const Headings = record(
  {
    h1: count("Number of h1 headings"),
    h2: count("Number of h2 headings"),
    h3: count("Number of h3 headings"),
    h4: count("Number of h4 headings"),
    h5: count("Number of h5 headings"),
    h6: count("Number of h6 headings"),
    texts: list(
      Type.Object({ level: integer("Level, 1 to 6"), text: text("First 200 characters of the text") }),
      "The first 50 headings, in page order",
    ),
    outline_ok: HEADINGS_IN_ORDER,
  },
  "Headings; null if the response is not HTML",
);

/** Images of a page, with those that have no alternative text. */
const Images = record(
  {
    total: count("Number of img elements"),
    missing_alt: list(
      Type.Object({ src: text("src attribute, unchanged"), line: integer("Line of the page, from 1") }),
      "The first 50 visible images without alt, label, title or presentational role",
    ),
    missing_alt_total: count("Number of all such images"),
    decorative: count("Number of images with an empty alt"),
  },
  "Images; null if the response is not HTML",
);

/** Links of a page, with those that have a generic text and those that crawlers cannot follow. */
const Links = record(
  {
    total: count("Number of a and area elements"),
    internal: count("Number of links to the host of the page"),
    external: count("Number of links to other hosts"),
    nofollow: count("Number of links with rel=nofollow"),
    non_descriptive: list(
      Type.Object({
        text: text("Text of the link"),
        url: text("Resolved address of the link"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links with a text that does not describe the target, e.g. click here",
    ),
    non_descriptive_total: count("Number of all such links"),
    uncrawlable: list(
      Type.Object({
        href: Nullable(text("href attribute, unchanged; null if it is absent")),
        text: text("Text of the link"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links without an address that crawlers can follow",
    ),
    uncrawlable_total: count("Number of all such links"),
  },
  "Links; null if the response is not HTML",
);

/** Directives for one crawler or for all crawlers, from a robots meta element or X-Robots-Tag. */
const Directives = Type.Object({
  user_agent: text("Crawler in lower case; * for all crawlers"),
  directives: texts("Directives in lower case, e.g. noindex or max-snippet:20"),
  unavailable_after: Nullable(
    text("Time at which search engines drop the page from the index, ISO 8601 UTC; null without a readable date"),
  ),
  expired: Nullable(truth("Whether that time has passed; null without a readable date")),
});

/** The canonical address of a page. */
const Canonical = record(
  {
    url: Nullable(text("Resolved canonical address; null if there is none, or if there are several different ones")),
    source: Nullable(
      word(["html", "http_header"], "Source of the link: the head of the page or the Link header; null without one"),
    ),
    named: texts("The first 20 canonical addresses, unchanged"),
    self: Nullable(truth("Whether it is the address of the page itself; null without a canonical address")),
  },
  "Canonical address: the one that search engines are asked to show",
);

/** Whether search engines are allowed to index a page, and the rules that keep it out. */
const Indexable = record(
  {
    value: Nullable(
      truth(
        "Whether at least one crawler is allowed to index the page; null if unknown, without a readable robots.txt",
      ),
    ),
    blocked_by: list(
      Type.Object({
        source: word(["robots_txt", "meta_robots", "x_robots_tag", "http_status"], "Source of the rule"),
        user_agent: text("Crawler that the rule is for, in lower case; * for all crawlers"),
        rule: text("The rule or status"),
      }),
      "Rules that keep the page out of the index of one or all crawlers",
    ),
    crawlers: list(
      Type.Object({
        crawler: text("Name of a search engine's crawler; * represents any other crawler"),
        indexable: Nullable(truth("Whether the crawler is allowed to index the page; null if unknown")),
      }),
      "Result for each crawler",
    ),
  },
  "Whether search engines are allowed to index the page",
);

const Check = Type.Object({
  id: text("Stable name of the check. Checks of Lighthouse's SEO category have Lighthouse's names"),
  weight: Type.Number({
    minimum: 0,
    description: "Share of the score in percent; 0 if the check does not apply",
  }),
  status: word(["pass", "fail", "na"], "na: the check does not apply or its facts are unknown; not part of the score"),
  value: Nullable(text("Value found on the page; null if there is none")),
  expected: text("Condition to pass"),
  recommendation: Nullable(text("What to do if the check fails; otherwise null")),
});

/** Contract of the tool that audits a page for search engines: Lighthouse's SEO category and further checks. */
export const seoAudit = defineTool({
  name: "seo-audit",
  title: "SEO audit",
  summary: "Search engine optimization of a page: a score from 0 to 100, all checks, and what to change",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to audit; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: points(
      "80 % from Lighthouse's SEO audits with its weights, 20 % from further checks. Checks that do not apply do not count",
    ),
    grade: letterGrade("Grade of the score. The minimum scores of A+ to D are 95, 90, 80, 70 and 60"),
    checks: list(Check, "All checks in a fixed order"),
    findings: findings("One for each failed check, and faults that do not count in the score; most severe first"),
    title: Nullable(
      Type.Object(
        {
          text: text("Text of the title element"),
          length: count("Length in characters"),
          px: Nullable(
            count(
              "Estimated width in Arial at 20 px, in pixels. Google cuts titles near 600. null if characters of unknown " +
                "width occur",
            ),
          ),
        },
        { description: "The title; null if the page has none" },
      ),
    ),
    meta_description: Nullable(
      Type.Object(
        { text: text("Content of the description meta element in the head"), length: count("Length in characters") },
        {
          description: "The description; null if the head has none. Search engines ignore a description in the body",
        },
      ),
    ),
    headings: Nullable(Headings),
    images: Nullable(Images),
    links: Nullable(Links),
    canonical: Canonical,
    hreflang: list(
      Type.Object({
        lang: text("Value of hreflang"),
        url: Nullable(text("Resolved address of the version; null if it is not a URL")),
        source: word(["html", "http_header"], "Source of the link: the head of the page or the Link header"),
        self: truth("Whether the address is that of the page itself"),
        valid: truth("Whether search engines can use the version: its language exists and its address is absolute"),
      }),
      "The first 100 language versions of the page",
    ),
    hreflang_group: record(
      {
        total: count("Number of all versions"),
        x_default: truth("Whether there is an x-default version, for all other languages"),
        self_reference: Nullable(truth("Whether the page lists itself; null without versions")),
      },
      "The language versions as a group",
    ),
    robots_meta: list(Directives, "Robots meta elements"),
    x_robots_tag: list(Directives, "X-Robots-Tag fields, one entry for each crawler"),
    indexable: Indexable,
    lang: Nullable(
      Type.Object(
        { value: text("lang attribute of the html element"), valid: truth("Whether it is a BCP 47 language tag") },
        { description: "Language of the page; null if it declares none" },
      ),
    ),
    viewport: Nullable(
      Type.Object(
        {
          content: text("Content of the viewport meta element"),
          device_width: truth("Whether the page is as wide as the device"),
          zoom_blocked: truth("Whether visitors cannot zoom in"),
        },
        { description: "The viewport meta element; null if the page has none" },
      ),
    ),
    word_count: Nullable(count("Number of words in the visible text; null if the response is not HTML")),
    text_html_ratio: Nullable(
      number("Bytes of visible text per byte of HTML, 0 to 1, rounded to 0.0001; null if the response is not HTML"),
    ),
    sitemap: record(
      {
        found: Nullable(truth("Whether the site has a sitemap; null if unknown")),
        source: word(["robots_txt", "default"], "robots_txt: listed in robots.txt; default: requested at /sitemap.xml"),
        urls: texts("The first 20 sitemaps that robots.txt lists"),
        checked: Nullable(
          Type.Object(
            { url: text("Address requested"), code: integer("HTTP status of the response") },
            { description: "The sitemap that was requested; null without a response" },
          ),
        ),
      },
      "Sitemap of the site",
    ),
    structured_data: Nullable(
      Type.Object(
        {
          json_ld: count("Number of JSON-LD objects"),
          microdata: count("Number of microdata items"),
          rdfa: count("Number of RDFa items"),
          types: texts("The first 50 types of top-level items"),
        },
        {
          description:
            "Summary of the structured data; the tool schema has all of it. null if the response is not HTML",
        },
      ),
    ),
    og: Nullable(
      Type.Object(
        {
          title: Nullable(text("og:title")),
          description: Nullable(text("og:description")),
          image: Nullable(text("Resolved address of the first og:image")),
          missing_required: texts("Missing properties among og:title, og:type, og:image and og:url"),
        },
        {
          description: "Summary of Open Graph; the tool og-preview has all of it. null if the response is not HTML",
        },
      ),
    ),
    favicon: Nullable(
      Type.Object(
        {
          url: Nullable(text("Address of the icon: the declared one, otherwise /favicon.ico if it exists; else null")),
          declared: truth("Whether the page declares the icon"),
        },
        { description: "Icon of the page; null if the response is not HTML" },
      ),
    ),
    url_hygiene: record(
      {
        length: count("Length of the address in characters"),
        depth: count("Number of path segments"),
        parameters: count("Number of different query parameters"),
        https: truth("Whether the address is https"),
      },
      "Properties of the page's address",
    ),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ grade, indexable }) => [grade, indexable.value],
    measure: () => ({}),
  },
});
