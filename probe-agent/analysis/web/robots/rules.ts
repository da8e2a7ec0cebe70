import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { agentFaults, robotsFaults } from "#probe-agent/analysis/web/robots/faults.ts";
import { parseRobots, type RobotsFile } from "#probe-agent/analysis/web/robots/parse.ts";
import {
  availabilityOf,
  MAX_BOTS,
  effectiveFile,
  reportFile,
  testAgents,
  testBots,
} from "#probe-agent/analysis/web/robots/report.ts";
import { contentSignals, contentUsage } from "#probe-agent/analysis/web/robots/signals.ts";
import type { AiBot } from "#probe-agent/analysis/web/robots/ai-bot.ts";
import { isHtml } from "#probe-agent/analysis/html/read-page.ts";

/** A robots.txt as received. */
interface RobotsInput {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
  readonly bots: readonly AiBot[];
}

/** Maximum number of lines listed in one finding, and of faults returned. The tool lists ten of a kind. */
const MAX_LINES = 20;
const MAX_FAULTS = 500;

/** Formats of a body that is not a robots.txt. */
type ForeignBody = "HTML" | "XML" | "JSON" | "UTF-16";

/** Maximum number of octets that are searched for XML or JSON. */
const MAX_JSON = 64 * 1024;

/** Analyses a robots.txt. `tested` is the URL that the crawlers are tested with. */
export function robotsReport({ status, contentType, bytes, bots, tested }: RobotsInput & { readonly tested: string }) {
  const availability = availabilityOf(status);
  const file = effectiveFile(bytes, availability);
  const report = reportFile(file);
  return {
    availability,
    fields: report.fields,
    agents: testAgents(file, tested, bots),
    bots: testBots(file, bots),
    limitations: [...report.limitations, ...untested(bots)],
    foreign: availability === "parsed" ? foreignBody(contentType, bytes) : null,
    saysNothing: file.errors.length > 0 && isSilent(file),
    errors: { total: file.totals.errors, lines: file.errors.slice(0, MAX_LINES).map(({ line }) => line) },
    lenient: { total: file.totals.lenient, lines: file.lenientLines.slice(0, MAX_LINES) },
    faults: availability === "parsed" ? [...robotsFaults(file), ...agentFaults(file.groups)].slice(0, MAX_FAULTS) : [],
  };
}

/** A robots.txt. */
export const robotsAnalysis = defineAnalysis("robots", robotsReport);

function untested(bots: readonly AiBot[]): string[] {
  return bots.length <= MAX_BOTS ? [] : [`Only the first ${MAX_BOTS} of ${bots.length} AI crawlers were tested.`];
}

/** Reports whether a file has no line that a crawler understands, e.g. an error page sent as plain text. */
function isSilent({ groups, sitemaps, unknown, orphans }: RobotsFile): boolean {
  return [groups, sitemaps, unknown, orphans].every(({ length }) => length === 0);
}

/** Analyses what a robots.txt allows AI services. */
export function robotsForAi({ status, bytes, bots }: RobotsInput) {
  const availability = availabilityOf(status);
  const file = effectiveFile(bytes, availability);
  const isRules = file.groups.length > 0 || file.errors.length === 0;
  return {
    readable: availability !== "disallow_all" && isRules,
    bots: testBots(file, bots),
    signals: contentSignals(file),
    usage: contentUsage(file),
    sitemaps: file.sitemaps.map(({ url }) => url),
  };
}

/** A robots.txt, as crawlers of AI systems read it. */
export const aiRobotsAnalysis = defineAnalysis("ai-robots", robotsForAi);

/** Returns the URLs of the sitemaps that a robots.txt lists. */
function namedSitemaps(robots: string): string[] {
  return parseRobots(robots).sitemaps.map(({ url }) => url);
}

/** The sitemaps that a robots.txt names. */
export const sitemapsAnalysis = defineAnalysis("sitemaps", namedSitemaps);

/**
 * Recognises a body that is not a robots.txt by its content, and returns its format; null for plain text. Servers that
 * respond to every URL with 200 send their error page, feed or API response with any Content-Type. A Content-Type of
 * HTML is sufficient too.
 */
export function foreignBody(contentType: string | null, bytes: Uint8Array): ForeignBody | null {
  if (isHtml(contentType, bytes) || isHtml(null, bytes)) return "HTML";
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "UTF-16";
  const text = Buffer.from(bytes.subarray(0, MAX_JSON))
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (/^<(?:\?xml\s|!--|!DOCTYPE\s|rss\s|feed\s|urlset\s|sitemapindex\s|svg\s)/i.test(text)) return "XML";
  return /^[{[]/.test(text) && isJson(text, bytes.length > MAX_JSON) ? "JSON" : null;
}

/** Reports whether a text is JSON. A truncated text is recognised by its start. */
function isJson(text: string, isCut: boolean): boolean {
  if (isCut) return /^(?:\{\s{0,100}"|\[\s{0,100}[{["\d])/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
