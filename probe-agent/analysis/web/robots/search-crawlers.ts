import type { RobotsVerdict } from "#probe-agent/analysis/web/robots/match.ts";

/** A search engine's crawler. */
export interface SearchCrawler {
  readonly name: string;
  /** Product tokens that it obeys, its own first. The groups of the first token that a file names apply. */
  readonly tokens: readonly string[];
}

/**
 * Crawlers of the large web search engines, with the tokens that their operators document:
 * Google (developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers: Googlebot-Image also obeys
 * "Googlebot"), Bing, DuckDuckGo, Yandex (yandex.com/support/webmaster/robot-workings/user-agent: all its robots also
 * obey "Yandex"), Baidu, Apple (support.apple.com/119829: without a group of its own, Applebot obeys Googlebot's).
 * As of 2026-11.
 */
export const SEARCH_CRAWLERS: readonly SearchCrawler[] = [
  { name: "Googlebot", tokens: ["Googlebot"] },
  { name: "Bingbot", tokens: ["Bingbot"] },
  { name: "DuckDuckBot", tokens: ["DuckDuckBot"] },
  { name: "YandexBot", tokens: ["YandexBot", "Yandex"] },
  { name: "Baiduspider", tokens: ["Baiduspider"] },
  { name: "Applebot", tokens: ["Applebot", "Googlebot"] },
];

/** Google's crawler of images. Web search does not depend on it. */
export const IMAGE_CRAWLER: SearchCrawler = { name: "Googlebot-Image", tokens: ["Googlebot-Image", "Googlebot"] };

/** Returns the verdict for a crawler: by the groups of its first token that is named, else by the "*" groups. */
export function verdictFor(
  match: (agents: readonly string[]) => RobotsVerdict,
  tokens: readonly string[],
): RobotsVerdict {
  for (const token of tokens) {
    const verdict = match([token]);
    if (verdict.group === "specific") return verdict;
  }
  return match([]);
}
