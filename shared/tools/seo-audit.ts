import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Headings, Images, Links } from "#shared/tools/seo-audit/content.ts";
import { Canonical, Directives, Indexable } from "#shared/tools/seo-audit/indexing.ts";
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
