import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { resolveAddress, documentBase } from "#probe-agent/analysis/http/address.ts";
import { metaContent } from "#probe-agent/analysis/html/page.ts";
import { parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { headerValues, joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { AiCheckResult } from "#shared/tools/ai-check/contract.ts";

const MAX_DIRECTIVES = 50;
const MAX_FEEDS = 20;
const FEED_TYPES = new Set(["application/rss+xml", "application/atom+xml", "application/feed+json"]);

/** Collects the robots directives of a page and its headers. A directive without a crawler name is for all crawlers. */
export function collectDirectives(page: Page | null, headers: readonly HeaderPair[]): AiCheckResult["meta"] {
  const inPage = (page?.facts.metas ?? [])
    .filter(({ name }) => name === "robots")
    .flatMap(({ content }) => parseRobotsTags([content]))
    .map((tag) => ({ ...tag, agent: "*" }));
  const tags = [...inPage, ...parseRobotsTags(headerValues(headers, "x-robots-tag"))];
  const forAll = new Set(tags.filter(({ agent }) => agent === "*").flatMap(({ directives }) => directives));
  return {
    noai: forAll.has("noai"),
    noimageai: forAll.has("noimageai"),
    nosnippet: forAll.has("nosnippet") || forAll.has("max-snippet:0"),
    robots: tags
      .flatMap(({ agent, directives }) =>
        directives.map((directive) => (agent === "*" ? directive : `${agent}: ${directive}`)),
      )
      .slice(0, MAX_DIRECTIVES),
  };
}

/** Reports whether the page has a non-empty meta description or og:description. */
export function hasDescription({ facts }: Page): boolean {
  const og = facts.metas.find(({ property }) => property?.toLowerCase() === "og:description")?.content ?? "";
  return (metaContent(facts, "description") ?? "").trim() !== "" || og.trim() !== "";
}

/** Returns the feeds that the page links to. */
export function findFeeds({ facts }: Page, pageUrl: string): AiCheckResult["feeds"] {
  const base = documentBase(facts.baseHref, pageUrl);
  return facts.links
    .filter(({ rel, type }) => rel.includes("alternate") && FEED_TYPES.has(type?.toLowerCase() ?? ""))
    .flatMap(({ href, type }) => {
      const url = href === null ? null : resolveAddress(href, base);
      return url === null ? [] : [{ type: (type ?? "").toLowerCase(), url }];
    })
    .slice(0, MAX_FEEDS);
}

/** Returns the URL of the page's Markdown version from its link element, or null if there is none. */
export function findMarkdownLink({ facts }: Page, pageUrl: string): string | null {
  const link = facts.links.find(({ rel, type }) => rel.includes("alternate") && /^text\/markdown\b/i.test(type ?? ""));
  return link?.href === null || link === undefined
    ? null
    : resolveAddress(link.href, documentBase(facts.baseHref, pageUrl));
}

/** Returns the Content-Usage header verbatim (IETF aipref, attachment in HTTP), or null if it is absent or empty. */
export function findContentUsage(headers: readonly HeaderPair[]): string | null {
  const value = joinedHeader(headers, "content-usage")?.trim() ?? "";
  return value === "" ? null : value.slice(0, 200).toWellFormed();
}

/**
 * Reports whether a page reserves rights to text and data mining (TDM Reservation Protocol). Its meta element takes
 * precedence over its header. Returns null if neither has a valid value.
 */
export function findReservation(page: Page | null, headers: readonly HeaderPair[]): boolean | null {
  const values = [
    page === null ? null : metaContent(page.facts, "tdm-reservation"),
    joinedHeader(headers, "tdm-reservation"),
  ].map((value) => value?.trim());
  const first = values.find((value) => value === "1" || value === "0");
  return first === undefined ? null : first === "1";
}

/**
 * Reports whether tdmrep.json reserves rights to text and data mining for the root. The file is a list of rules with
 * `location` and `tdm-reservation`. Returns null if the file is invalid or has no valid rule for the root.
 */
function parseTdmRep(text: string): boolean | null {
  try {
    const rules: unknown = JSON.parse(text);
    if (!Array.isArray(rules)) return null;
    const root = rules.slice(0, 1_000).find((rule) => {
      const location: unknown = (rule as Record<string, unknown> | null)?.["location"];
      return location === "/" || location === "/*" || location === "*";
    }) as Record<string, unknown> | undefined;
    const reserved = root?.["tdm-reservation"];
    return reserved === 1 || reserved === 0 ? reserved === 1 : null;
  } catch {
    return null;
  }
}

/** A tdmrep.json. */
export const tdmRepAnalysis = defineAnalysis("tdmrep", parseTdmRep);

/** Reports whether a text is a JSON object. */
function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Whether a text is a JSON object. */
export const jsonObjectAnalysis = defineAnalysis("json-object", isJsonObject);
