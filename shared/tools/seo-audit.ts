import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
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

const Directives = Type.Object({
  user_agent: text("Crawler it speaks to, lower case; * for all"),
  directives: texts("Directives in lower case, e.g. noindex or max-snippet:20"),
  unavailable_after: Nullable(text("When the page is to leave the index, ISO 8601 UTC; null without a readable date")),
  expired: Nullable(truth("That time has passed; null without one")),
});

const Headings = record(
  {
    h1: count("Number of h1 headings"),
    h2: count("Number of h2 headings"),
    h3: count("Number of h3 headings"),
    h4: count("Number of h4 headings"),
    h5: count("Number of h5 headings"),
    h6: count("Number of h6 headings"),
    texts: list(
      Type.Object({ level: integer("1 to 6"), text: text("What it says, at most 200 characters") }),
      "The first 50 headings in the order of the page",
    ),
    outline_ok: truth("They begin with h1 and skip no level on the way down"),
  },
  "Headings; null where the answer is no HTML",
);

const Images = record(
  {
    total: count("Number of img elements"),
    missing_alt: list(
      Type.Object({ src: text("Its address as written"), line: integer("Line of the page, from 1") }),
      "The first 50 images without alt, label or a role that takes them out of the page",
    ),
    missing_alt_total: count("Number of such images"),
    decorative: count("Images with an empty alt"),
  },
  "Images; null where the answer is no HTML",
);

const Links = record(
  {
    total: count("Number of a and area elements"),
    internal: count("Links to the page's own host"),
    external: count("Links to other hosts"),
    nofollow: count("Links with rel=nofollow"),
    non_descriptive: list(
      Type.Object({
        text: text("What it says"),
        url: text("Where it leads"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links whose text says nothing of where they lead, e.g. click here",
    ),
    non_descriptive_total: count("Number of such links"),
    uncrawlable: list(
      Type.Object({
        href: Nullable(text("href as written, null without one")),
        text: text("What it says"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links without an address a crawler could follow",
    ),
    uncrawlable_total: count("Number of such links"),
  },
  "Links; null where the answer is no HTML",
);

const Canonical = record(
  {
    url: Nullable(text("The one address named, resolved; null where there is none, or several that differ")),
    source: Nullable(word(["html", "http_header"], "Where it stands")),
    named: texts("All that are named, as written"),
    self: Nullable(truth("It is the page's own address; null without one")),
    issues: texts("What is wrong, one sentence each"),
  },
  "The address search engines are told to show",
);

const Indexable = record(
  {
    value: Nullable(
      truth("Crawlers in general and Googlebot may index the page; null where robots.txt could not be read"),
    ),
    blocked_by: list(
      Type.Object({
        source: word(["robots_txt", "meta_robots", "x_robots_tag", "http_status"], "Where it is said"),
        user_agent: text("Crawler it is said to, lower case; * for all"),
        rule: text("The rule or status"),
      }),
      "What keeps the page out of an index, also of a single crawler",
    ),
    crawlers: list(
      Type.Object({
        crawler: text("Name; * is one nobody has rules for"),
        indexable: Nullable(truth("It may index the page; null where that could not be told")),
      }),
      "The same for single crawlers",
    ),
  },
  "Whether search engines may have the page in their indexes",
);

/** What a search engine finds on a page, scored like Lighthouse's SEO category and beyond it. */
export const seoAudit = defineTool({
  name: "seo-audit",
  title: "SEO audit",
  summary: "A score of 0 to 100 for what search engines need of a page, every check of it, and what to do",
  scope: "check",
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
        { text: text("The description meta element"), length: count("Characters") },
        { description: "The description; null without one" },
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
        issue: Nullable(text("What is wrong with it, null where nothing is")),
      }),
      "Versions of the page in other languages, at most 100",
    ),
    hreflang_group: record(
      {
        total: count("Number of versions, also where the list is cut"),
        x_default: truth("One is for everybody else"),
        self_reference: Nullable(truth("The page lists itself; null without versions")),
        issues: texts("What is wrong with the versions together"),
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
            { url: text("Address fetched"), status: integer("Its HTTP status") },
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
          errors: count("Faults of the markup"),
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
        issues: texts("What makes it worse to read, share or crawl, one sentence each"),
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
