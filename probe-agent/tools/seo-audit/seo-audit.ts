import { ok } from "#shared/contracts/outcome.ts";
import { seoAudit as contract } from "#shared/tools/seo-audit/contract.ts";
import { sitemapsAnalysis } from "#probe-agent/analysis/web/robots/rules.ts";
import { seoAuditAnalysis } from "#probe-agent/tools/seo-audit/checks.ts";
import { seoPageAnalysis, type SeoFacts } from "#probe-agent/tools/seo-audit/audit.ts";
import type { SeoSite, RobotsTxt, SitemapSearch } from "#probe-agent/tools/seo-audit/snapshot.ts";
import { seoFindings } from "#probe-agent/tools/seo-audit/findings.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { fetchSiteFile, fetchSmallFile, type SiteFile } from "#probe-agent/sources/site-file.ts";

/** Maximum time for each file of the site, in milliseconds. */
const FILE_MS = 8000;
/** Time reserved for the audit, in milliseconds. */
const RESERVE_MS = 2500;
const ROBOTS_BYTES = 512 * 1024;
const SITEMAP_BYTES = 64 * 1024;
const MAX_NAMED = 100;

/** Reads a page, then the files of its site that matter to search engines, and audits both. */
export const seoAudit = implement(contract, async (net, { url }) => {
  const now = net.now();
  const fetched = await fetchPage(net, url);
  if (fetched.status !== "ok") return fetched;
  const analysis = await analysePage(net, fetched.data, seoPageAnalysis, { now });
  if (analysis.status !== "ok") return analysis;
  const { report: page, limitations } = analysis.data;
  const site = await fetchSiteFacts(net, page.url, page.favicon !== null && page.favicon.declared === null);
  const audited = await runAnalysis(net, seoAuditAnalysis, { page, site });
  if (audited.status !== "ok") return audited;
  const { facts, score } = audited.data;
  const { findings, limitations: leftOut } = fitFindings(seoFindings(facts, score.checks));
  return ok({
    ...fetched.data.head,
    ...score,
    findings,
    title: facts.title,
    meta_description: facts.meta_description === null ? null : textAndLength(facts.meta_description),
    headings: facts.headings === null ? null : headingsOf(facts.headings),
    images: facts.images,
    links: facts.links,
    canonical: facts.canonical,
    hreflang: facts.hreflang.versions.map(({ fault, ...version }) => ({ ...version, valid: fault === null })),
    hreflang_group: groupOf(facts.hreflang),
    robots_meta: facts.robots_meta,
    x_robots_tag: facts.x_robots_tag,
    indexable: facts.indexable,
    lang: facts.lang,
    viewport: facts.viewport,
    word_count: facts.word_count,
    text_html_ratio: facts.text_html_ratio,
    sitemap: facts.sitemap,
    structured_data: facts.structured_data,
    og: facts.og,
    favicon: facts.favicon,
    url_hygiene: facts.url_hygiene,
    source: ["page", ...(site.robots.known ? ["robots.txt"] : []), ...(site.sitemap.tried.known ? ["sitemap"] : [])],
    observed_at: fetched.data.observedAt,
    limitations: [...limitations, ...limitationsOf(site, facts), ...leftOut],
  });
});

function textAndLength({ text, length }: { readonly text: string; readonly length: number }) {
  return { text, length };
}

function headingsOf({ counts, texts, outline_ok: outlineOk }: NonNullable<SeoFacts["headings"]>) {
  const [h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0, h6 = 0] = counts;
  return { h1, h2, h3, h4, h5, h6, texts, outline_ok: outlineOk };
}

function groupOf({ total, x_default: xDefault, self_reference: selfReference }: SeoFacts["hreflang"]) {
  return { total, x_default: xDefault, self_reference: selfReference };
}

function limitationsOf({ robots, sitemap }: SeoSite, facts: SeoFacts): string[] {
  const cut = [
    facts.headings !== null &&
      facts.headings.counts.reduce((sum, count) => sum + count, 0) > facts.headings.texts.length,
    facts.images !== null && facts.images.missing_alt_total > facts.images.missing_alt.length,
    facts.links !== null && facts.links.non_descriptive_total > facts.links.non_descriptive.length,
    facts.links !== null && facts.links.uncrawlable_total > facts.links.uncrawlable.length,
    facts.hreflang.total > facts.hreflang.versions.length,
  ];
  return [
    ...(robots.known ? [] : [robots.why]),
    ...(sitemap.tried.known ? [] : [sitemap.tried.why]),
    ...(cut.includes(true) ? ["Long lists are cut. Their totals are complete."] : []),
    ...(facts.wordsComplete ? [] : ["The text is too long to count all its words: word_count is too low."]),
    ...(facts.title?.px === null
      ? ["The width of the title is unknown, because it has characters without a known width."]
      : []),
    ...(facts.isHtml ? ["Scripts were not run, so content that they add or change is not audited."] : []),
  ];
}

/**
 * Fetches the files of a site that matter to search engines: robots.txt, then the first sitemap that it lists or
 * /sitemap.xml, and /favicon.ico if `wantsIcon` is true.
 */
async function fetchSiteFacts(net: Net, url: string, wantsIcon: boolean): Promise<SeoSite> {
  const { origin } = new URL(url);
  const file = (name: string, work: () => Promise<SiteFile>): Promise<SiteFile> =>
    waitAtMost(Math.min(FILE_MS, net.remainingMs() - RESERVE_MS), work(), unknown(`${name} took too long.`));
  const icon = wantsIcon ? file("/favicon.ico", () => fetchSiteFile(net, origin, "/favicon.ico", 1024)) : null;
  const robots: RobotsTxt = await file("/robots.txt", () => fetchSiteFile(net, origin, "/robots.txt", ROBOTS_BYTES));
  const named = robots.known && robots.text !== null ? await namedSitemaps(net, robots.text) : [];
  const target = named[0] ?? `${origin}/sitemap.xml`;
  const sitemap = await file("The sitemap", () => fetchSmallFile(net, target, "The sitemap", SITEMAP_BYTES));
  const foundIcon = await icon;
  return {
    robots,
    sitemap: { named, tried: triedOf(target, sitemap) },
    defaultIcon: foundIcon?.known === true ? foundIcon.status === 200 && !foundIcon.html : null,
  };
}

async function namedSitemaps(net: Net, robots: string): Promise<string[]> {
  const named = await runAnalysis(net, sitemapsAnalysis, robots);
  const urls = named.status === "ok" ? named.data : [];
  return urls.filter((url) => URL.canParse(url) && /^https?:/i.test(url)).slice(0, MAX_NAMED);
}

/**
 * Returns the facts about a fetched sitemap. An XML sitemap or feed, a list of addresses, and compressed data look like
 * a sitemap (sitemaps.org, protocol).
 */
function triedOf(url: string, file: SiteFile): SitemapSearch["tried"] {
  if (!file.known) return file;
  const start = (file.text ?? "").slice(0, 2000);
  const packed = start.startsWith("\u001F") || /gzip/i.test(file.contentType ?? "");
  const looksLikeSitemap =
    packed || /<(?:\w+:)?(?:urlset|sitemapindex|rss|feed)\b/i.test(start) || /^\uFEFF?\s*https?:\/\//i.test(start);
  return { known: true, url, status: file.status, looksLikeSitemap: looksLikeSitemap && !file.html };
}
