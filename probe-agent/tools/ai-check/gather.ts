import { waitAtMost } from "#shared/time/time-limit.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { InputOf, ReportOf } from "#probe-agent/analysis/site/analyses.ts";
import { robotsForAi } from "#probe-agent/analysis/web/robots/rules.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { runAnalysis } from "#probe-agent/sources/run-analysis.ts";
import { fetchRobotsOf } from "#probe-agent/sources/robots-file.ts";
import { fetchSiteFile, type SiteFile } from "#probe-agent/sources/site-file.ts";

/** Maximum time for each file other than the page, and time kept to build the result, in milliseconds. */
const FILE_MS = 8_000;
const RESERVE_MS = 2_000;
const LLMS_BYTES = 512 * 1024;
const SMALL_BYTES = 64 * 1024;

/** Well-known paths of descriptions of agent endpoints. */
const ENDPOINTS = ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json", "/.well-known/agent-card.json"];

type TextAnalysis = "llms-txt" | "tdmrep" | "json-object";

/** robots.txt as it applies to AI services. `status` and `readable` are null if it could not be fetched. */
type SiteRobots = Omit<ReportOf<"ai-robots">, "readable"> & {
  readonly status: number | null;
  readonly readable: boolean | null;
};

/** Well-known files of the site, and its answer to a request for Markdown. */
export interface SiteFiles {
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
export async function gatherFiles(net: Net, pageUrl: string): Promise<SiteFiles> {
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
  const described = await Promise.all(endpoints.map((one) => readText(net, one, "json-object")));
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
  const analysed = await runAnalysis(net, "ai-robots", { status, contentType, bytes, bots: net.data.aiBots });
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
export async function readText<Name extends TextAnalysis>(
  net: Net,
  file: SiteFile,
  name: Name,
): Promise<ReportOf<Name> | null> {
  if (!file.known || file.text === null) return null;
  const analysed = await runAnalysis(net, name, file.text as InputOf<Name>);
  return analysed.status === "ok" ? analysed.data : null;
}
