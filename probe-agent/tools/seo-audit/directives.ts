import { parseCookieDate } from "#probe-agent/analysis/http/cookie-date.ts";
import type { PageFacts } from "#probe-agent/analysis/html/page.ts";
import { OBSOLETE_ZONES } from "#probe-agent/analysis/text/obsolete-zones.ts";
import { parseRobotsTags } from "#probe-agent/analysis/http/robots-tag.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Directives for one crawler or for all crawlers, from a robots meta element or X-Robots-Tag. */
export interface CrawlerDirectives {
  /** Product name of the crawler in lower case; "*" for all crawlers. */
  readonly user_agent: string;
  readonly directives: string[];
  /** Time at which search engines drop the page from the index, ISO 8601 UTC. null without a readable date. */
  readonly unavailable_after: string | null;
  /** Whether that time has passed; null without a readable date. */
  readonly expired: boolean | null;
}

/**
 * Names of the meta elements for single crawlers that search engines read (Google and Bing, robots meta tags). The name
 * "robots" is for all crawlers.
 */
const META_NAMES = new Set([
  "googlebot",
  "googlebot-news",
  "googlebot-image",
  "bingbot",
  "msnbot",
  "duckduckbot",
  "slurp",
]);
const MAX_LISTED = 50;

/** Reads the robots meta elements of a page. Names match in upper and lower case. */
export function metaDirectives({ metas }: PageFacts, now: Date): CrawlerDirectives[] {
  return metas
    .filter(({ name }) => name === "robots" || META_NAMES.has(name ?? ""))
    .slice(0, MAX_LISTED)
    .map(({ name, content }) => {
      // The name of the element gives the crawler, so the content has no names of crawlers.
      const directives = parseRobotsTags([content]).flatMap((tag) => tag.directives);
      return describe(name === "robots" || name === null ? "*" : name, directives, now);
    });
}

/** Reads the X-Robots-Tag fields of a response. */
export function headerDirectives(headers: readonly HeaderPair[], now: Date): CrawlerDirectives[] {
  return parseRobotsTags(headerValues(headers, "x-robots-tag"))
    .slice(0, MAX_LISTED)
    .map(({ agent, directives }) => describe(agent, directives, now));
}

/** Returns the directive that keeps a page out of the index, or null if none does. */
export function findIndexBan({ directives, expired }: CrawlerDirectives): string | null {
  const ban = directives.find((directive) => directive === "noindex" || directive === "none");
  return ban ?? (expired === true ? "unavailable_after" : null);
}

function describe(agent: string, directives: readonly string[], now: Date): CrawlerDirectives {
  const date = directives.flatMap((directive) => {
    const written = /^unavailable_after:(.*)$/.exec(directive)?.[1];
    const parsed = written === undefined ? null : parseDate(written.trim().slice(0, 100));
    return parsed === null ? [] : [parsed];
  })[0];
  return {
    user_agent: storable(agent, 100),
    directives: directives.slice(0, MAX_LISTED).map((directive) => storable(directive, 200)),
    unavailable_after: date?.toISOString() ?? null,
    expired: date === undefined ? null : date <= now,
  };
}

/**
 * Parses a date of RFC 822, RFC 850 or ISO 8601 (Google, unavailable_after), or returns null. A date without a zone is
 * in UTC. A date without a time is the start of the day.
 */
function parseDate(text: string): Date | null {
  const iso = /^(\d{4}-\d{2}-\d{2})(?:[t ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s?(z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
  if (iso !== null) {
    const zone = (iso[3] ?? "z").toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
    const date = new Date(`${iso[1]}T${iso[2] ?? "00:00"}${zone}`);
    return Number.isNaN(date.getTime()) ? null : date;
  }
  const date = parseCookieDate(
    /\d{1,2}:\d{2}/.test(text) ? text.replace(/(\D\d{1,2}:\d{2})(?!:?\d)/, "$1:00") : `${text} 00:00:00`,
  );
  if (date === null) return null;
  const zone = /\s(?:([a-z]{3})|([+-])(\d{2}):?(\d{2}))$/.exec(text);
  const numeric = (Number(zone?.[3] ?? 0) * 60 + Number(zone?.[4] ?? 0)) * (zone?.[2] === "-" ? -1 : 1);
  return new Date(date.getTime() - (OBSOLETE_ZONES.get(zone?.[1] ?? "") ?? numeric) * 60_000);
}
