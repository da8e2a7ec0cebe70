import { parseRobots, type RobotsFile } from "#probe-agent/analysis/robots/parse.ts";
import { availabilityOf, effectiveFile } from "#probe-agent/analysis/robots/report.ts";
import { unknown } from "#probe-agent/analysis/unknown.ts";
import type { Net } from "#probe-agent/net/port.ts";
import { fetchRobotsOf } from "#probe-agent/sources/robots-file.ts";
import { fetchSiteFile, type SiteFile } from "#probe-agent/sources/site-file.ts";
import { within } from "#probe-agent/within.ts";

/** The longest each file beside the page may take, and what is kept back for the answer. */
const FILE_MS = 8_000;
const RESERVE_MS = 2_000;
const LLMS_BYTES = 512 * 1024;
const SMALL_BYTES = 64 * 1024;

/** Well-known places of descriptions of agent endpoints. */
const ENDPOINTS = ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json", "/.well-known/agent-card.json"];

/** robots.txt as crawlers take it. */
export interface SiteRobots {
  /** null: it could not be asked for. */
  readonly status: number | null;
  readonly file: RobotsFile;
  readonly readable: boolean | null;
}

/** What stands beside the page. */
export interface SiteFiles {
  readonly robots: SiteRobots;
  readonly llms: SiteFile;
  readonly llmsFull: SiteFile;
  readonly aiTxt: SiteFile;
  readonly tdmrep: SiteFile;
  readonly sitemap: SiteFile;
  /** Where an agent endpoint is described; null: nowhere. */
  readonly endpoint: string | null;
  /** The page asked for as Markdown; null: it could not be told. */
  readonly negotiated: boolean | null;
}

/** Asks for all of it at once; what takes too long is unknown. */
export async function gatherFiles(net: Net, pageUrl: string): Promise<SiteFiles> {
  const { origin } = new URL(pageUrl);
  const budget = () => Math.min(FILE_MS, net.remainingMs() - RESERVE_MS);
  const file = (path: string, bytes: number): Promise<SiteFile> =>
    within<SiteFile>(budget(), fetchSiteFile(net, origin, path, bytes), unknown(`${path} took too long.`));
  const [robots, llms, llmsFull, aiTxt, tdmrep, sitemap, negotiated, ...endpoints] = await Promise.all([
    within(budget(), askRobots(net, origin), UNKNOWN_ROBOTS),
    file("/llms.txt", LLMS_BYTES),
    file("/llms-full.txt", LLMS_BYTES),
    file("/ai.txt", SMALL_BYTES),
    file("/.well-known/tdmrep.json", SMALL_BYTES),
    file("/sitemap.xml", SMALL_BYTES),
    within(budget(), askMarkdown(net, pageUrl), null),
    ...ENDPOINTS.map((path) => file(path, SMALL_BYTES)),
  ]);
  const endpoint = endpoints.find((one) => one.known && isJsonObject(one.text));
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

const UNKNOWN_ROBOTS: SiteRobots = { status: null, file: parseRobots(""), readable: null };

async function askRobots(net: Net, origin: string): Promise<SiteRobots> {
  const fetched = await fetchRobotsOf(net, origin);
  if (fetched.status !== "ok") return UNKNOWN_ROBOTS;
  const { status, bytes } = fetched.data;
  const availability = availabilityOf(status);
  const file = effectiveFile(bytes, availability);
  const isRules = file.groups.length > 0 || file.errors.length === 0;
  return { status, file, readable: availability !== "disallow_all" && isRules };
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
  const type = final.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  return final.code === 200 && /^text\/markdown\b/i.test(type);
}

function isJsonObject(text: string | null): boolean {
  if (text === null) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
