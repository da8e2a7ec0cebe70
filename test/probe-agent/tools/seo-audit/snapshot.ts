import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { joinFacts, readSeoPage, type SeoFacts } from "#probe-agent/tools/seo-audit/audit.ts";
import { scoreSeo } from "#probe-agent/tools/seo-audit/checks.ts";
import type { SeoSite, SeoSource } from "#probe-agent/tools/seo-audit/snapshot.ts";

/** All input of an audit. */
export interface SeoSnapshot extends SeoSource, SeoSite {
  readonly now: Date;
}

const URL_OF_PAGE = "https://example.com/page";
/** A page that passes every check. */
export const GOOD =
  '<!doctype html><html lang="en"><head><title>A title of a fitting length</title>' +
  '<meta name="description" content="A description that is long enough to say what this page is about.">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="canonical" href="https://example.com/page">' +
  '<link rel="alternate" hreflang="en" href="https://example.com/page"><link rel="alternate" hreflang="de" href="https://example.com/seite">' +
  '<meta property="og:title" content="t"><meta property="og:type" content="website"><meta property="og:image" content="https://example.com/i.png">' +
  '<meta property="og:url" content="https://example.com/page">' +
  '<script type="application/ld+json">{"@context":"https://schema.org","@type":"WebPage","name":"x"}</script></head>' +
  '<body><h1>Heading</h1><img src="x" alt="y"><a href="/other">Our prices</a></body></html>';

/** Returns the facts that the checks of an audit evaluate. */
export function readFacts(from: SeoSnapshot): SeoFacts {
  return joinFacts(readSeoPage(from, from), from);
}

/** Makes a snapshot of the page GOOD with the given changes. */
export function snapshot(over: Partial<SeoSnapshot> & { readonly html?: string } = {}): SeoSnapshot {
  const { html = GOOD, ...rest } = over;
  return {
    url: URL_OF_PAGE,
    status: 200,
    headers: [],
    page: readHtml(html),
    now: new Date("2026-11-21T12:00:00Z"),
    robots: { known: true, status: 200, text: "User-agent: *\nDisallow:\nSitemap: https://example.com/s.xml\n" },
    sitemap: {
      named: ["https://example.com/s.xml"],
      tried: { known: true, url: "https://example.com/s.xml", status: 200, looksLikeSitemap: true },
    },
    defaultIcon: null,
    ...rest,
  };
}

/** Scores a snapshot. */
export const audit = (over: Parameters<typeof snapshot>[0] = {}) => scoreSeo(readFacts(snapshot(over)));
/** Returns the status of one check for a snapshot. */
export const statusOf = (over: Parameters<typeof snapshot>[0], id: string) =>
  audit(over).checks.find((check) => check.id === id)?.status;
