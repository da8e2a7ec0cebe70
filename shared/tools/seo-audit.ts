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
  id: text("Stable name; those of Lighthouse's SEO audits where they are the same"),
  weight: Type.Number({ minimum: 0, description: "Share of the score, percent; 0 where it does not apply" }),
  status: word(["pass", "fail", "na"], "na: does not apply or could not be told, left out of the score"),
  value: Nullable(text("What was found, null where nothing was")),
  expected: text("What passes"),
  recommendation: Nullable(text("What to do, null where nothing needs doing")),
});

/** What a search engine finds on a page, scored like Lighthouse's SEO category and beyond it. */
export const seoAudit = defineTool({
  name: "seo-audit",
  title: "SEO audit",
  summary: "A score of 0 to 100 for what search engines need of a page, every check of it, and what to do",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to audit; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: points(
      "80 % Lighthouse's SEO audits by its weights, 20 % further checks; those that do not apply are left out",
    ),
    grade: letterGrade("By score: 95, 90, 80, 70, 60"),
    checks: list(Check, "All checks in fixed order"),
    findings: findings("One for each check that fails, and what the checks do not count; worst first"),
    title: Nullable(
      Type.Object(
        {
          text: text("The title element"),
          length: count("Characters"),
          px: Nullable(count("Estimated width at 20 px Arial, pixels; Google cuts near 600; null for other scripts")),
        },
        { description: "The title; null without one" },
      ),
    ),
    meta_description: Nullable(
      Type.Object(
        { text: text("The description meta element of the head"), length: count("Characters") },
        { description: "The description; null without one in the head: search engines ignore one in the body" },
      ),
    ),
    headings: Nullable(Headings),
    images: Nullable(Images),
    links: Nullable(Links),
    canonical: Canonical,
    hreflang: list(
      Type.Object({
        lang: text("Value of hreflang"),
        url: Nullable(text("Its address, resolved; null where it is none")),
        source: word(["html", "http_header"], "Where it stands"),
        self: truth("It is the page's own address"),
        valid: truth("Search engines can use it: its language exists and its address is absolute"),
      }),
      "Versions of the page in other languages, at most 100",
    ),
    hreflang_group: record(
      {
        total: count("Number of versions, also where the list is cut"),
        x_default: truth("One is for everybody else"),
        self_reference: Nullable(truth("The page lists itself; null without versions")),
      },
      "The versions together",
    ),
    robots_meta: list(Directives, "Robots meta elements"),
    x_robots_tag: list(Directives, "X-Robots-Tag fields, one entry for each crawler named"),
    indexable: Indexable,
    lang: Nullable(
      Type.Object(
        { value: text("lang of the html element"), valid: truth("It is a language tag by BCP 47") },
        { description: "The page's language; null where it names none" },
      ),
    ),
    viewport: Nullable(
      Type.Object(
        {
          content: text("Content of the viewport meta element"),
          device_width: truth("The page is as wide as the device"),
          zoom_blocked: truth("Visitors cannot zoom in"),
        },
        { description: "The viewport; null without one" },
      ),
    ),
    word_count: Nullable(count("Words of the visible text, without scripts; null where the answer is no HTML")),
    text_html_ratio: Nullable(number("Bytes of visible text per byte of HTML, 0 to 1, to 0.0001")),
    sitemap: record(
      {
        found: Nullable(truth("A sitemap is there; null where it could not be told")),
        source: word(["robots_txt", "default"], "robots_txt: named there; default: /sitemap.xml was tried"),
        urls: texts("Sitemaps robots.txt names, at most 20"),
        checked: Nullable(
          Type.Object(
            { url: text("Address fetched"), code: integer("Its HTTP status") },
            { description: "The sitemap that was fetched; null where nothing answered" },
          ),
        ),
      },
      "The site's sitemap",
    ),
    structured_data: Nullable(
      Type.Object(
        {
          json_ld: count("Objects in JSON-LD"),
          microdata: count("Items in microdata"),
          rdfa: count("Things in RDFa"),
          types: texts("Types of the things at the top, at most 50"),
        },
        { description: "Structured data in short (tool schema has all); null where the answer is no HTML" },
      ),
    ),
    og: Nullable(
      Type.Object(
        {
          title: Nullable(text("og:title")),
          description: Nullable(text("og:description")),
          image: Nullable(text("First og:image, resolved")),
          missing_required: texts("og:title, og:type, og:image and og:url as far as they are missing"),
        },
        { description: "Open Graph in short (tool og-preview has all); null where the answer is no HTML" },
      ),
    ),
    favicon: Nullable(
      Type.Object(
        {
          url: Nullable(text("Its address: as declared, or /favicon.ico where that is there; else null")),
          declared: truth("The page names it"),
        },
        { description: "The page's icon; null where the answer is no HTML" },
      ),
    ),
    url_hygiene: record(
      {
        length: count("Characters of the address"),
        depth: count("Segments of its path"),
        parameters: count("Different parameters of its query"),
        https: truth("It is an https address"),
      },
      "The page's address",
    ),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ grade, indexable }) => [grade, indexable.value],
    measure: () => ({}),
  },
});
