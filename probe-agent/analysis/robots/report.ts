import type { RobotsResult } from "#shared/tools/robots.ts";
import { leading } from "#probe-agent/analysis/fitting.ts";
import { shownAgent } from "#probe-agent/analysis/robots/faults.ts";
import { createMatcher } from "#probe-agent/analysis/robots/match.ts";
import { parseRobots, type RobotsFile, type RobotsRule } from "#probe-agent/analysis/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/robots/path.ts";
import {
  IMAGE_CRAWLER,
  SEARCH_CRAWLERS,
  verdictFor,
  type SearchCrawler,
} from "#probe-agent/analysis/robots/search-crawlers.ts";
import { contentSignals, contentUsage } from "#probe-agent/analysis/robots/signals.ts";
import type { AiBot } from "#probe-agent/net/port/data.ts";

/** What crawlers make of an answer by its status (RFC 9309 section 2.3.1). */
export type Availability = RobotsResult["availability"];

/** Crawlers that are tested beside those of AI services. */
const TESTED_CRAWLERS: readonly SearchCrawler[] = SEARCH_CRAWLERS.toSpliced(1, 0, IMAGE_CRAWLER);

// A result holds 256 KB.
const MAX_GROUPS_BYTES = 120_000;
const MAX_LISTED = 200;
const MAX_TEXT = 500;

/** What a status means. 3xx that lead nowhere count as unavailable, like 4xx. */
export function availabilityOf(status: number): Availability {
  if (status >= 500) return "disallow_all";
  return status >= 200 && status < 300 ? "parsed" : "allow_all";
}

/** The file that the rules are read from: an absent one allows everything, one that cannot be had forbids it. */
export function effectiveFile(bytes: Uint8Array, availability: Availability): RobotsFile {
  if (availability === "parsed") return parseRobots(bytes);
  return parseRobots(availability === "allow_all" ? "" : "User-agent: *\nDisallow: /\n");
}

/** The file's own part of the result. */
export function reportFile(file: RobotsFile) {
  const groups = file.groups.map(({ userAgents, rules, crawlDelaySeconds }) => ({
    user_agents: userAgents.slice(0, MAX_LISTED).map((agent) => shownAgent(agent).slice(0, MAX_TEXT)),
    rules: rules.map(({ type, pattern, line }) => ({ type, pattern: pattern.slice(0, MAX_TEXT), line })),
    crawl_delay: crawlDelaySeconds,
  }));
  const shown = leading(
    groups.map((group) => ({ ...group, rules: leading(group.rules, MAX_GROUPS_BYTES / 2) })),
    MAX_GROUPS_BYTES,
  );
  const rules = (of: readonly { readonly rules: readonly unknown[] }[]) =>
    of.reduce((sum, group) => sum + group.rules.length, 0);
  const isCut = shown.length < groups.length || rules(shown) < rules(groups);
  return {
    fields: {
      groups: shown,
      sitemaps: file.sitemaps.slice(0, MAX_LISTED).map(({ url }) => url.slice(0, 2_048)),
      content_signals: contentSignals(file),
      content_usage: contentUsage(file),
      unknown_lines: file.unknown.slice(0, MAX_LISTED).map(({ line, key, value }) => {
        return { line, key: key.slice(0, 100), value: value.slice(0, MAX_TEXT) };
      }),
      syntax_errors: file.errors.slice(0, MAX_LISTED).map(({ line, message }) => ({ line, message })),
      lenient_lines: file.lenientLines.slice(0, MAX_LISTED),
    },
    limitations: isCut ? [`Of ${rules(groups)} rules ${rules(shown)} are shown; all were applied.`] : [],
  };
}

/** Who may fetch a URL: search engines, AI crawlers, everyone. */
export function testAgents(file: RobotsFile, url: string, bots: readonly AiBot[]): RobotsResult["test"]["user_agents"] {
  const match = createMatcher(file, robotsPath(url), { byWriting: true });
  const crawlers = new Map<string, readonly string[]>([
    ["*", ["*"]],
    ...TESTED_CRAWLERS.map(({ name, tokens }) => [name, tokens] as const),
  ]);
  for (const { name } of bots.slice(0, MAX_LISTED)) {
    if (!crawlers.has(name)) crawlers.set(name, [name]);
  }
  return [...crawlers].map(([ua, tokens]) => {
    const { allowed, rule, group } = verdictFor(match, tokens);
    return { ua, allowed, matched_rule: ruleText(rule), line: rule?.line ?? null, group };
  });
}

/** The AI crawlers at the site's root. */
export function testBots(file: RobotsFile, bots: readonly AiBot[]): RobotsResult["ai_bots"] {
  const match = createMatcher(file, "/", { byWriting: true });
  const tested = bots.slice(0, MAX_LISTED).map(({ name, operator, purpose }) => {
    const { allowed, group } = match([name]);
    return { name, operator, purpose, allowed, named: group === "specific" };
  });
  const allowed = tested.filter((bot) => bot.allowed).length;
  return { bots: tested, allowed, disallowed: tested.length - allowed };
}

function ruleText(rule: RobotsRule | null): string | null {
  return rule === null ? null : `${rule.type}: ${rule.pattern.slice(0, MAX_TEXT)}`;
}
