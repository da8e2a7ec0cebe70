import { waitAtMost } from "#shared/time-limit.ts";
import type { RobotsTxt, SeoSite, SitemapSearch } from "#probe-agent/analysis/page/seo/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchSiteFile, fetchSmallFile, type SiteFile } from "#probe-agent/sources/site-file.ts";

/** Maximum time for each file of the site, in milliseconds. */
const FILE_MS = 8000;
/** Time reserved for the audit, in milliseconds. */
const RESERVE_MS = 2500;
const ROBOTS_BYTES = 512 * 1024;
const SITEMAP_BYTES = 64 * 1024;
const MAX_NAMED = 100;

/**
 * Fetches the files of a site that matter to search engines: robots.txt, then the first sitemap that it lists or
 * /sitemap.xml, and /favicon.ico if `wantsIcon` is true.
 */
export async function fetchSiteFacts(net: Net, url: string, wantsIcon: boolean): Promise<SeoSite> {
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
  const named = await runAnalysis(net, "sitemaps", robots);
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
