import { describe, expect, it } from "vitest";
import { SEO_ADVICE } from "#probe-agent/tools/seo-audit/advice.ts";
import { SEO_CHECKS, scoreSeo } from "#probe-agent/tools/seo-audit/checks.ts";
import { seoFindings } from "#probe-agent/tools/seo-audit/findings.ts";
import { GOOD, readFacts, snapshot } from "#test/probe-agent/tools/seo-audit/snapshot.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

type Over = NonNullable<Parameters<typeof snapshot>[0]>;

function audited(over: Over) {
  const facts = readFacts(snapshot(over));
  const { checks } = scoreSeo(facts);
  const failed = checks.filter(({ status }) => status === "fail").map(({ id }) => id as string);
  return { findings: seoFindings(facts, checks), failed };
}

const page = (pattern: string | RegExp, to: string): Over => ({ html: GOOD.replace(pattern, to) });
const head = (html: string): Over => page("</head>", `${html}</head>`);
const robots = (text: string | null, status = 200): Over => ({ robots: { known: true, status, text } });
const NO_SITEMAP = {
  known: true,
  url: "https://example.com/sitemap.xml",
  status: 404,
  looksLikeSitemap: false,
} as const;
/** The good page with another canonical address. */
const canonical = (to: string): Over => page(/(canonical" href=")[^"]*/, `$1${to}`);
const PAGE = "https://example.com/page";

/** One page for each kind of finding, with its severity and parts of its message and advice. */
const KINDS: readonly (readonly [id: string, severity: string, message: string, how: string, page: Over])[] = [
  ["is-crawlable", "warning", "meta_robots: noindex", "robots meta", head("<meta name=robots content=noindex>")],
  ["is-crawlable", "warning", "/ (line 2)", 'Remove "Disallow: / (line 2)"', robots("User-agent: *\nDisallow: /")],
  ["is-crawlable", "warning", "503", "", robots(null, 503)],
  [
    "is-crawlable",
    "warning",
    "unavailable_after",
    "Remove unavailable_after 2010-06-25T23:00:00.000Z from the X-Robots-Tag header.",
    { headers: [["x-robots-tag", "unavailable_after: 25 Jun 2010 15:00:00 PST"]] },
  ],
  ["document-title", "warning", "no title", "<title>", page(/<title>.*?<\/title>/, "")],
  ["document-title", "warning", "no title", "<title>", page(/<title>.*?</, "<title><")],
  ["meta-description", "info", "no description", 'name="description"', page(/<meta name="description"[^>]*>/, "")],
  ["http-status-code", "warning", "status 404", "status 200", { status: 404 }],
  ["http-status-code", "critical", "status 503", "status 200", { status: 503 }],
  ["link-text", "info", '"click here" in line 1', "click here", page("Our prices", "click here")],
  [
    "crawlable-anchors",
    "warning",
    "javascript:void(0) in line 1",
    "<a href=",
    page('href="/other"', "href=javascript:void(0)"),
  ],
  ["robots-txt", "warning", "HTML", "text/plain", robots(null)],
  ["image-alt", "warning", "1 of 1 images have no alt attribute: x in line 1", 'alt=""', page(' alt="y"', "")],
  ["hreflang", "warning", "de-UK (no such country: UK)", 'hreflang="en-GB"', page('hreflang="de"', 'hreflang="de-UK"')],
  ["canonical", "warning", "/page is relative", `href="${PAGE}"`, canonical("/page")],
  ["canonical", "warning", "is not a URL", `href="${PAGE}"`, canonical("http://[")],
  ["canonical", "warning", "the home page", `href="${PAGE}"`, canonical("https://example.com/")],
  ["canonical", "warning", "2 different", `href="${PAGE}"`, head("<link rel=canonical href=https://example.com/b>")],
  ["single-h1", "info", "0 h1 headings", "one h1", page(/<h1>.*?<\/h1>/, "")],
  ["single-h1", "info", "2 h1 headings", "one h1", page("<h1>", "<h1>Other</h1><h1>")],
  ["lang", "info", "no lang", '<html lang="en">', page(' lang="en"', "")],
  ["lang", "info", '"e n"', '<html lang="en">', page('lang="en"', 'lang="e n"')],
  ["viewport", "warning", "no viewport", "width=device-width", page(/<meta name="viewport"[^>]*>/, "")],
  ["viewport", "warning", "from zooming", "width=device-width", page("initial-scale=1", "user-scalable=no")],
  ["open-graph", "info", "og:image", '<meta property="og:image"', page(/<meta property="og:image"[^>]*>/, "")],
  ["structured-data", "info", "no structured data", "ld+json", page(/<script.*?<\/script>/, "")],
  ["structured-data", "warning", "1 fault. The first: JSON-LD", "tool schema", page('"x"}', '"x",}')],
  ["sitemap", "info", "404", "Sitemap: https://example.com/sitemap.xml", { sitemap: { named: [], tried: NO_SITEMAP } }],
  ["https", "warning", "unencrypted", `301 to ${PAGE}`, { url: "http://example.com/page" }],
  ["title-length", "info", "1 characters", "10 to 60", page(/<title>.*?</, "<title>x<")],
  ["description-length", "info", "1 characters", "50 to 160", page(/content="A desc[^"]*"/, 'content="x"')],
  ["canonical-self", "info", "no canonical", `href="${PAGE}"`, page(/<link rel="canonical"[^>]*>/, "")],
  ["canonical-self", "warning", "another host (o.test)", "unless", canonical("https://o.test/page")],
  ["canonical-without-scripts", "info", "line 1", "noscript", page("<title>", "<noscript><img></noscript><title>")],
  [
    "hreflang-several-addresses",
    "warning",
    "language: de",
    "one link",
    head('<link rel=alternate hreflang=de href="https://example.com/de">'),
  ],
  [
    "hreflang-without-self",
    "warning",
    "2 versions",
    PAGE,
    page('hreflang="en" href="https://example.com/page', 'hreflang="en" href="https://example.com/en'),
  ],
  ["url-too-long", "info", "more than 115", "Shorten", { url: `https://example.com/${"a".repeat(120)}` }],
  ["url-underscores", "info", "underscores", "hyphens", { url: "https://example.com/a_b" }],
  ["url-capitals", "info", "upper-case", "lower-case letters", { url: "https://example.com/A" }],
  ["url-not-ascii", "info", "ASCII", "UTF-8", { url: "https://example.com/%C3%A9" }],
  ["url-white-space", "info", "white space", "hyphens", { url: "https://example.com/a%20b" }],
  ["url-empty-segment", "info", "empty segment", "single", { url: "https://example.com//a" }],
  ["url-many-parameters", "info", "4 parameters", "path", { url: "https://example.com/?a=1&b=1&c=1&d=1" }],
  ["url-session", "warning", "session", "cookie", { url: "https://example.com/?sid=1" }],
  ["url-tracking", "info", "tracking", "canonical", { url: "https://example.com/?utm_source=1" }],
  ["url-too-deep", "info", "6 levels", "root", { url: "https://example.com/a/b/c/d/e/f" }],
];

describe("findings", () => {
  it("a page without faults has none", () => {
    expect(audited({})).toEqual({ findings: [], failed: [] });
  });

  it.each(KINDS)("%s has the severity %s and a message that contains: %s", (id, severity, message, how, over) => {
    const { findings, failed } = audited(over);
    // A fault fails the check of its name and no other. The canonical address is that of the good page.
    expect(failed.filter((other) => other !== id)).toEqual("url" in over ? ["canonical-self"] : []);
    const one = findings.find((finding) => finding.id === id);
    expect(one).toMatchObject({ severity });
    expect(one?.message).toContain(message);
    expect(one?.how).toContain(how);
  });

  it("every kind of fault has a row above and advice", () => {
    const kindsTested = new Set(KINDS.map(([id]) => id));
    for (const { id } of SEO_CHECKS) {
      expect(Object.keys(SEO_ADVICE)).toContain(id);
      expect(kindsTested).toContain(id);
    }
    for (const id of Object.keys(SEO_ADVICE)) expect(kindsTested).toContain(id);
  });

  it("of a bad page are well formed, with one for each failed check", () => {
    const html = "<a href=/x>here</a><a href=javascript:x>x</a><img src=a>";
    const { findings, failed } = audited({ html, status: 500 });
    expect(findings.map(({ id }) => id)).toEqual(failed);
    expect(kinds(findings)).toContain("critical http-status-code");
    for (const finding of findings) expectWellFormed([finding]);
  });
});
