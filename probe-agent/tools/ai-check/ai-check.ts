import { ok } from "#shared/contracts/outcome.ts";
import { aiCheck as contract, type AiCheckResult } from "#shared/tools/ai-check/contract.ts";
import { jsonObjectAnalysis, tdmRepAnalysis } from "#probe-agent/tools/ai-check/page-declarations.ts";
import { aiPageAnalysis } from "#probe-agent/tools/ai-check/page.ts";
import { aiFindings } from "#probe-agent/tools/ai-check/findings.ts";
import { gradeParts, type AiFacts } from "#probe-agent/tools/ai-check/parts.ts";
import { llmsTxtAnalysis, type LlmsTxt } from "#probe-agent/tools/ai-check/llms-txt.ts";
import { scoreAi } from "#probe-agent/tools/ai-check/score.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import type { testBots } from "#probe-agent/analysis/web/robots/report.ts";
import { analysePage, fetchPage } from "#probe-agent/sources/page.ts";
import { type SiteFile, fetchSiteFile } from "#probe-agent/sources/site-file.ts";
import { tryOnSite } from "#probe-agent/sources/try-on-site.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { Analysis } from "#probe-agent/analysis/analysis.ts";
import { aiRobotsAnalysis, robotsForAi } from "#probe-agent/analysis/web/robots/rules.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchRobotsOf } from "#probe-agent/sources/robots-file.ts";

const MAX_SITEMAPS = 20;

/** Fetches the site's root page and its well-known files, and scores both. */
export const aiCheck = implement(contract, async (net, { domain }) => {
  const seen = await tryOnSite(domain, (url) => fetchPage(net, url));
  if (seen.status !== "ok") return seen;
  const read = await analysePage(net, seen.data, aiPageAnalysis, {});
  if (read.status !== "ok") return read;
  const { head, observedAt } = seen.data;
  const { meta, content, reserved: ownReserved, usage: ownUsage } = read.data.report;
  const files = await gatherFiles(net, head.final_url);
  const { status: robotsStatus, readable, bots, signals } = files.robots;
  // A page's own statement takes precedence over a file for the whole site (TDM Reservation Protocol; aipref too).
  const usage = ownUsage ?? files.robots.usage;
  const [readLlms, tdm] = await Promise.all([
    readText(net, files.llms, llmsTxtAnalysis),
    readText(net, files.tdmrep, tdmRepAnalysis),
  ]);
  const llms = llmsOf(files.llms, readLlms);
  const sitemaps = sitemapsOf(files);
  const tdmrep = { ...fileOf(files.tdmrep), reserved: ownReserved ?? tdm };
  const parts = gradeParts({
    robotsStatus,
    robotsReadable: readable,
    crawlers: countVisitors(bots),
    text: content?.text ?? null,
    structuredData: content === null ? null : content.types.found,
    llmsTxt: llmsFacts(files.llms, readLlms),
    sitemap: sitemaps.found || files.sitemap.known ? sitemaps.found : null,
    semantic: content?.semantic ?? null,
    description: content?.hasDescription ?? null,
    preferenceStated: statesPreference(signals, usage, tdmrep.reserved),
    bans: [...(meta.noai ? ["noai"] : []), ...(meta.nosnippet ? ["nosnippet or max-snippet:0"] : [])],
  });
  const { score, grade, checks } = scoreAi(parts);
  const { findings, limitations: leftOut } = fitFindings(aiFindings(checks, countVisitors(bots).blocked));
  return ok({
    domain,
    ...head,
    score,
    grade,
    checks: [...checks],
    findings,
    robots: { code: robotsStatus, ...bots },
    content_signals: signals,
    content_usage: usage,
    llms_txt: llms,
    llms_full_txt: fileOf(files.llmsFull),
    ai_txt: fileOf(files.aiTxt),
    tdmrep,
    mcp: { found: files.endpoint !== null, url: files.endpoint },
    meta,
    structured_data: content?.types ?? { found: false, types: [] },
    ssr_text_bytes: content?.bytes ?? null,
    ssr_words: content?.text.words ?? null,
    text_ratio: content?.text.ratio ?? null,
    sitemap: sitemaps,
    semantic_html: content?.semantic ?? null,
    feeds: content?.feeds ?? [],
    md_alternate: { negotiated: files.negotiated, linked: content?.markdownLink ?? null },
    source: ["page", "robots.txt", "well-known files"],
    observed_at: observedAt,
    limitations: [...read.data.limitations, ...unknownFiles(files), ...unreadLlms(files.llms, readLlms), ...leftOut],
  });
});

/**
 * Counts the crawlers of AI search and assistants, which bring visitors. Leaves out crawlers that train models, because
 * blocking them is the owner's policy.
 */
function countVisitors({ bots }: ReturnType<typeof testBots>): { known: number; allowed: number; blocked: string[] } {
  const visitors = bots.filter(({ purpose }) => purpose === "search" || purpose === "assistant");
  const blocked = visitors.filter(({ allowed }) => !allowed).map(({ name }) => name);
  return { known: visitors.length, allowed: visitors.length - blocked.length, blocked };
}

function statesPreference(
  { search, ai_input: input, ai_train: train }: AiCheckResult["content_signals"],
  usage: string | null,
  reserved: boolean | null,
): boolean {
  return [search, input, train, usage, reserved].some((value) => value !== null);
}

function fileOf(file: SiteFile): { exists: boolean; code: number | null; bytes: number | null } {
  if (!file.known) return { exists: false, code: null, bytes: null };
  const exists = file.text !== null;
  return { exists, code: file.status, bytes: exists ? file.bytes : null };
}

function llmsOf(file: SiteFile, read: LlmsTxt | null): AiCheckResult["llms_txt"] {
  if (read === null) return { ...fileOf(file), valid: false, title: null, summary: null, sections: [], links: 0 };
  const { valid, title, summary, sections, links } = read;
  return { ...fileOf(file), valid, title, summary, sections: [...sections], links };
}

function llmsFacts(file: SiteFile, read: LlmsTxt | null): AiFacts["llmsTxt"] {
  if (!file.known || (read === null && file.text !== null)) return null;
  const isPage = file.html && file.status === 200;
  return { exists: file.text !== null, valid: read?.valid ?? false, isPage, errors: read?.errors ?? [] };
}

function unreadLlms(file: SiteFile, read: LlmsTxt | null): string[] {
  return file.known && file.text !== null && read === null ? ["/llms.txt could not be parsed in time."] : [];
}

function sitemapsOf({ robots, sitemap }: SiteFiles): AiCheckResult["sitemap"] {
  const named = robots.sitemaps.slice(0, MAX_SITEMAPS).map((url) => url.slice(0, 2_048));
  const isThere = sitemap.known && /<(?:\w+:)?(?:urlset|sitemapindex)\b/.test((sitemap.text ?? "").slice(0, 2_000));
  const urls = named.length === 0 && isThere ? [sitemap.url] : named;
  return { found: urls.length > 0, urls };
}

function unknownFiles({ robots, llms, llmsFull, aiTxt, tdmrep, sitemap }: SiteFiles): string[] {
  const whys = [llms, llmsFull, aiTxt, tdmrep, sitemap].flatMap((file) => (file.known ? [] : [file.why]));
  return [...(robots.status === null ? ["robots.txt could not be fetched."] : []), ...whys];
}

/** Maximum time for each file other than the page, and time kept to build the result, in milliseconds. */
const FILE_MS = 8_000;
const RESERVE_MS = 2_000;
const LLMS_BYTES = 512 * 1024;
const SMALL_BYTES = 64 * 1024;

/** Well-known paths of descriptions of agent endpoints. */
const ENDPOINTS = ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json", "/.well-known/agent-card.json"];

/** robots.txt as it applies to AI services. `status` and `readable` are null if it could not be fetched. */
type SiteRobots = Omit<ReturnType<typeof robotsForAi>, "readable"> & {
  readonly status: number | null;
  readonly readable: boolean | null;
};

/** Well-known files of the site, and its answer to a request for Markdown. */
interface SiteFiles {
  readonly robots: SiteRobots;
  readonly llms: SiteFile;
  readonly llmsFull: SiteFile;
  readonly aiTxt: SiteFile;
  readonly tdmrep: SiteFile;
  readonly sitemap: SiteFile;
  /** URL of the description of an agent endpoint, or null if there is none. */
  readonly endpoint: string | null;
  /** Whether the page is served as Markdown on request. null if the request failed. */
  readonly negotiated: boolean | null;
}

/** Fetches all the files at the same time. A file that takes too long is unknown. */
async function gatherFiles(net: Net, pageUrl: string): Promise<SiteFiles> {
  const { origin } = new URL(pageUrl);
  const budget = () => Math.min(FILE_MS, net.remainingMs() - RESERVE_MS);
  const file = (path: string, bytes: number): Promise<SiteFile> =>
    waitAtMost<SiteFile>(budget(), fetchSiteFile(net, origin, path, bytes), unknown(`${path} took too long.`));
  const [robots, llms, llmsFull, aiTxt, tdmrep, sitemap, negotiated, ...endpoints] = await Promise.all([
    waitAtMost(budget(), askRobots(net, origin), noRobots(net)),
    file("/llms.txt", LLMS_BYTES),
    file("/llms-full.txt", LLMS_BYTES),
    file("/ai.txt", SMALL_BYTES),
    file("/.well-known/tdmrep.json", SMALL_BYTES),
    file("/sitemap.xml", SMALL_BYTES),
    waitAtMost(budget(), askMarkdown(net, pageUrl), null),
    ...ENDPOINTS.map((path) => file(path, SMALL_BYTES)),
  ]);
  const described = await Promise.all(endpoints.map((one) => readText(net, one, jsonObjectAnalysis)));
  const endpoint = endpoints.find((_, index) => described[index] === true);
  return {
    robots,
    llms,
    llmsFull,
    aiTxt,
    tdmrep,
    sitemap,
    endpoint: endpoint?.known === true ? endpoint.url : null,
    negotiated,
  };
}

function noRobots(net: Net): SiteRobots {
  const nothing = robotsForAi({ status: 404, contentType: null, bytes: new Uint8Array(), bots: net.data.aiBots });
  return { ...nothing, status: null, readable: null };
}

async function askRobots(net: Net, origin: string): Promise<SiteRobots> {
  const fetched = await fetchRobotsOf(net, origin);
  if (fetched.status !== "ok") return noRobots(net);
  const { status, contentType, bytes } = fetched.data;
  const analysed = await runAnalysis(net, aiRobotsAnalysis, { status, contentType, bytes, bots: net.data.aiBots });
  return analysed.status === "ok" ? { ...analysed.data, status } : noRobots(net);
}

async function askMarkdown(net: Net, url: string): Promise<boolean | null> {
  const fetched = await net.http.fetch({
    url,
    method: "GET",
    follow: true,
    headers: [["Accept", "text/markdown, text/html;q=0.5"]],
    maxBodyBytes: 1,
  });
  if (fetched.status !== "ok") return null;
  const { final } = fetched.data;
  const type = headerValues(final.headers, "content-type")[0] ?? "";
  return final.code === 200 && /^text\/markdown\b/i.test(type);
}

/** Runs a text analysis on a file. Returns null if the file has no text or the analysis fails, e.g. by a timeout. */
async function readText<Report>(net: Net, file: SiteFile, analysis: Analysis<string, Report>): Promise<Report | null> {
  if (!file.known || file.text === null) return null;
  const analysed = await runAnalysis(net, analysis, file.text);
  return analysed.status === "ok" ? analysed.data : null;
}
