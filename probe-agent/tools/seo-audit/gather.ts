import { waitAtMost } from "#shared/time-limit.ts";
import type { RobotsTxt, SeoBeside, SitemapSearch } from "#probe-agent/analysis/page/seo/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchSiteFile, fetchSmallFile, type SiteFile } from "#probe-agent/sources/site-file.ts";

/** The longest each file beside the page may take, and what is kept back for the audit. */
const FILE_MS = 8000;
const RESERVE_MS = 2500;
const ROBOTS_BYTES = 512 * 1024;
const SITEMAP_BYTES = 64 * 1024;
const MAX_NAMED = 100;

/** Looks at what stands beside a page: robots.txt, then the sitemap it names, and the icon at its usual place if wanted. */
export async function gatherSeo(net: Net, url: string, wantsIcon: boolean): Promise<SeoBeside> {
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

/** An XML sitemap or feed, a list of addresses, or something packed (sitemaps.org, protocol). */
function triedOf(url: string, file: SiteFile): SitemapSearch["tried"] {
  if (!file.known) return file;
  const start = (file.text ?? "").slice(0, 2000);
  const packed = start.startsWith("\u001F") || /gzip/i.test(file.contentType ?? "");
  const looksLikeOne =
    packed || /<(?:\w+:)?(?:urlset|sitemapindex|rss|feed)\b/i.test(start) || /^\uFEFF?\s*https?:\/\//i.test(start);
  return { known: true, url, status: file.status, looksLikeOne: looksLikeOne && !file.html };
}
