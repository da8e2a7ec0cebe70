import type { RobotsResult } from "#shared/tools/robots/contract.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { shownAgent } from "#probe-agent/analysis/web/robots/faults.ts";
import { createMatcher } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots, type RobotsFile, type RobotsRule } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";
import {
  IMAGE_CRAWLER,
  SEARCH_CRAWLERS,
  verdictFor,
  type SearchCrawler,
} from "#probe-agent/analysis/web/robots/search-crawlers.ts";
import { contentSignals, contentUsage } from "#probe-agent/analysis/web/robots/signals.ts";
import type { AiBot } from "#probe-agent/analysis/web/robots/ai-bot.ts";

/** How crawlers treat a response by its status (RFC 9309 section 2.3.1). */
type Availability = RobotsResult["availability"];

/** Crawlers that are tested in addition to those of AI services. */
const TESTED_CRAWLERS: readonly SearchCrawler[] = SEARCH_CRAWLERS.toSpliced(1, 0, IMAGE_CRAWLER);

// A result can have 256 KB.
const MAX_GROUPS_BYTES = 120_000;
const MAX_LISTED = 200;
/** Maximum number of crawlers of AI services that are tested. */
export const MAX_BOTS = 200;
const MAX_TEXT = 500;
const MAX_KEY = 100;
const MAX_ADDRESS = 2_048;

/** Returns how crawlers treat a status. A 3xx that cannot be followed counts as unavailable, like 4xx. */
export function availabilityOf(status: number): Availability {
  if (status >= 500) return "disallow_all";
  return status >= 200 && status < 300 ? "parsed" : "allow_all";
}

/** Returns the rules that apply: an absent file allows everything, an unavailable file disallows everything. */
export function effectiveFile(bytes: Uint8Array, availability: Availability): RobotsFile {
  if (availability === "parsed") return parseRobots(bytes);
  return parseRobots(availability === "allow_all" ? "" : "User-agent: *\nDisallow: /\n");
}

/** Returns the part of the result about the file. `limitations` lists what is not shown. */
export function reportFile(file: RobotsFile) {
  const cuts = new Cuts();
  const groups = file.groups.map(({ userAgents, rules, crawlDelaySeconds }) => ({
    user_agents: userAgents
      .filter(({ written }) => written !== "")
      .slice(0, MAX_LISTED)
      .map((agent) => cuts.text(shownAgent(agent), MAX_TEXT)),
    rules: rules.map(({ type, pattern, line }) => ({ type, pattern: cuts.text(pattern, MAX_TEXT), line })),
    crawl_delay: crawlDelaySeconds,
  }));
  const shown = leading(
    groups.map((group) => ({ ...group, rules: leading(group.rules, MAX_GROUPS_BYTES / 2) })),
    MAX_GROUPS_BYTES,
  );
  const { sitemaps, unknown } = file.totals;
  const fields = {
    groups: shown,
    sitemaps: file.sitemaps.slice(0, MAX_LISTED).map(({ url }) => cuts.text(url, MAX_ADDRESS)),
    content_signals: contentSignals(file),
    content_usage: contentUsage(file),
    unknown_lines: file.unknown.slice(0, MAX_LISTED).map(({ line, key, value }) => {
      return { line, key: cuts.text(key, MAX_KEY), value: cuts.text(value, MAX_TEXT) };
    }),
  };
  cuts.count(
    "rules",
    sum(groups, ({ rules }) => rules.length),
    sum(shown, ({ rules }) => rules.length),
    ". All were applied",
  );
  cuts.count("groups", groups.length, shown.length, ". All were applied");
  const agents = sum(file.groups, ({ userAgents }) => userAgents.filter(({ written }) => written !== "").length);
  cuts.count(
    "user agents",
    agents,
    sum(shown, ({ user_agents: names }) => names.length),
    ". All were applied",
  );
  cuts.count("sitemaps", sitemaps, fields.sitemaps.length);
  cuts.count("lines with unknown keys", unknown, fields.unknown_lines.length);
  return { fields, limitations: cuts.limitations() };
}

/** Record of what a result leaves out. */
class Cuts {
  readonly #counts: string[] = [];
  #texts = 0;

  text(whole: string, max: number): string {
    if (whole.length > max) this.#texts += 1;
    return whole.slice(0, max);
  }

  count(what: string, all: number, shown: number, more = ""): void {
    if (shown < all) this.#counts.push(`Only ${shown} of ${all} ${what} are shown${more}.`);
  }

  limitations(): string[] {
    return [...this.#counts, ...(this.#texts > 0 ? [`Truncated texts: ${this.#texts}.`] : [])];
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** Tests which crawlers are allowed to fetch a URL: search engines, AI crawlers and "*". */
export function testAgents(file: RobotsFile, url: string, bots: readonly AiBot[]): RobotsResult["test"]["user_agents"] {
  const match = createMatcher(file, robotsPath(url), { byWriting: true });
  const crawlers = new Map<string, readonly string[]>([
    ["*", ["*"]],
    ...TESTED_CRAWLERS.map(({ name, tokens }) => [name, tokens] as const),
  ]);
  for (const { name } of bots.slice(0, MAX_BOTS)) {
    if (!crawlers.has(name)) crawlers.set(name, [name]);
  }
  return [...crawlers].map(([ua, tokens]) => {
    const { allowed, rule, group } = verdictFor(match, tokens);
    return { ua, allowed, matched_rule: ruleText(rule), line: rule?.line ?? null, group };
  });
}

/** Tests which AI crawlers are allowed to fetch the site's root. */
export function testBots(file: RobotsFile, bots: readonly AiBot[]): RobotsResult["ai_bots"] {
  const match = createMatcher(file, "/", { byWriting: true });
  const tested = bots.slice(0, MAX_BOTS).map(({ name, operator, purpose }) => {
    const { allowed, group } = match([name]);
    return { name, operator, purpose, allowed, named: group === "specific" };
  });
  const allowed = tested.filter((bot) => bot.allowed).length;
  return { bots: tested, allowed, disallowed: tested.length - allowed };
}

function ruleText(rule: RobotsRule | null): string | null {
  return rule === null ? null : `${rule.type}: ${rule.pattern.slice(0, MAX_TEXT)}`;
}
