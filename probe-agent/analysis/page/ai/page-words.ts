import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { resolveAddress, documentBase } from "#probe-agent/analysis/http/address.ts";
import { metaContent } from "#probe-agent/analysis/html/page.ts";
import { parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { headerValues, joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { AiCheckResult } from "#shared/tools/ai-check.ts";

const MAX_DIRECTIVES = 50;
const MAX_FEEDS = 20;
const FEED_TYPES = new Set(["application/rss+xml", "application/atom+xml", "application/feed+json"]);

/** What a page says to crawlers: for everyone where no crawler is named. */
export function crawlerWords(page: Page | null, headers: readonly HeaderPair[]): AiCheckResult["meta"] {
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

/** Whether the page describes itself, for people or for previews. */
export function hasDescription({ facts }: Page): boolean {
  const og = facts.metas.find(({ property }) => property?.toLowerCase() === "og:description")?.content ?? "";
  return (metaContent(facts, "description") ?? "").trim() !== "" || og.trim() !== "";
}

/** Feeds the page names. */
export function feedsOf({ facts }: Page, pageUrl: string): AiCheckResult["feeds"] {
  const base = documentBase(facts.baseHref, pageUrl);
  return facts.links
    .filter(({ rel, type }) => rel.includes("alternate") && FEED_TYPES.has(type?.toLowerCase() ?? ""))
    .flatMap(({ href, type }) => {
      const url = href === null ? null : resolveAddress(href, base);
      return url === null ? [] : [{ type: (type ?? "").toLowerCase(), url }];
    })
    .slice(0, MAX_FEEDS);
}

/** The Markdown version the page names; null without one. */
export function markdownLink({ facts }: Page, pageUrl: string): string | null {
  const link = facts.links.find(({ rel, type }) => rel.includes("alternate") && /^text\/markdown\b/i.test(type ?? ""));
  return link?.href === null || link === undefined
    ? null
    : resolveAddress(link.href, documentBase(facts.baseHref, pageUrl));
}

/** Content-Usage of an answer (IETF aipref, attachment in HTTP) as written; null without one. */
export function usageInHeader(headers: readonly HeaderPair[]): string | null {
  const value = joinedHeader(headers, "content-usage")?.trim() ?? "";
  return value === "" ? null : value.slice(0, 200).toWellFormed();
}

/** Whether a page or its header reserves TDM rights (TDM Reservation Protocol): the page's own word comes first. */
export function reservedByPage(page: Page | null, headers: readonly HeaderPair[]): boolean | null {
  const said = [
    page === null ? null : metaContent(page.facts, "tdm-reservation"),
    joinedHeader(headers, "tdm-reservation"),
  ].map((value) => value?.trim());
  const first = said.find((value) => value === "1" || value === "0");
  return first === undefined ? null : first === "1";
}

/** Whether TDM rights are reserved for the root (tdmrep.json: a list of rules with location and tdm-reservation). */
export function tdmReserved(text: string): boolean | null {
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
