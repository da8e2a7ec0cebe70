import { createMatcher } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";
import { SEARCH_CRAWLERS, verdictFor, type SearchCrawler } from "#probe-agent/analysis/web/robots/search-crawlers.ts";
import { findIndexBan, type CrawlerDirectives } from "#probe-agent/tools/seo-audit/directives.ts";
import type { SeoSite, SeoSource } from "#probe-agent/tools/seo-audit/snapshot.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** A rule that keeps a page out of an index. */
interface IndexBan {
  readonly source: "robots_txt" | "meta_robots" | "x_robots_tag" | "http_status";
  /** Crawler that the rule is for, in lower case; "*" for all crawlers. */
  readonly user_agent: string;
  readonly rule: string;
}

/** Whether search engines are allowed to index a page. */
interface Indexable {
  /**
   * False if every crawler is blocked, as in Lighthouse's audit "is-crawlable". null if robots.txt could not be read
   * and no other rule blocks every crawler.
   */
  readonly value: boolean | null;
  readonly blocked_by: IndexBan[];
  readonly crawlers: { crawler: string; indexable: boolean | null }[];
}

/** The crawlers that are evaluated. "*" represents any other crawler. */
const CRAWLERS: readonly SearchCrawler[] = [{ name: "*", tokens: ["*"] }, ...SEARCH_CRAWLERS];

/** Address and status of a page, and the robots.txt of its site. */
type PageAndRobots = Pick<SeoSource, "url" | "status"> & Pick<SeoSite, "robots">;

/**
 * Reports which crawlers are allowed to index a page. Combines its status, robots.txt, robots meta elements (`meta`)
 * and X-Robots-Tag fields (`header`).
 */
export function checkIndexability(
  page: PageAndRobots,
  meta: readonly CrawlerDirectives[],
  header: readonly CrawlerDirectives[],
): Indexable {
  const everywhere: IndexBan[] = [
    ...(page.status >= 400 ? [ban("http_status", "*", `status ${page.status}`)] : []),
    ...bans(meta, "meta_robots"),
    ...bans(header, "x_robots_tag"),
  ];
  const banOf = robotsBans(page);
  const results = CRAWLERS.map(({ name: crawler, tokens }) => {
    const robots = banOf(crawler, tokens);
    const own = everywhere.filter(({ user_agent: agent }) => agent === "*" || agent === crawler.toLowerCase());
    const all = robots === null || robots === "unknown" ? own : [robots, ...own];
    return { crawler, all, indexable: all.length > 0 ? false : robots === "unknown" ? null : true };
  });
  const isOpen = results.some((one) => one.indexable === true);
  const value = isOpen ? true : results.every((one) => one.indexable === false) ? false : null;
  const unique = new Map(
    results.flatMap(({ all }) => all).map((one) => [`${one.source} ${one.user_agent} ${one.rule}`, one]),
  );
  return {
    value,
    blocked_by: [...unique.values()],
    crawlers: results.map(({ crawler, indexable }) => ({ crawler, indexable })),
  };
}

function bans(list: readonly CrawlerDirectives[], source: IndexBan["source"]): IndexBan[] {
  return list.flatMap((one) => {
    const rule = findIndexBan(one);
    return rule === null
      ? []
      : [
          ban(
            source,
            one.user_agent,
            rule === "unavailable_after" ? `unavailable_after ${one.unavailable_after}` : rule,
          ),
        ];
  });
}

/** Returns the rule that blocks a crawler, "unknown", or null if no rule does. */
type RobotsBan = (crawler: string, tokens: readonly string[]) => IndexBan | "unknown" | null;

/**
 * Makes a function that evaluates robots.txt for a crawler. RFC 9309 section 2.3.1: status 4xx allows everything,
 * status 5xx forbids everything.
 */
function robotsBans({ robots, url }: PageAndRobots): RobotsBan {
  if (!robots.known) return () => "unknown";
  if (robots.status >= 500) {
    const serverError = ban("robots_txt", "*", `robots.txt responds with status ${robots.status}`);
    return () => serverError;
  }
  if (robots.text === null) return () => null;
  const match = createMatcher(parseRobots(robots.text), robotsPath(url));
  return (crawler, tokens) => {
    const { allowed, rule, group } = verdictFor(match, tokens);
    if (allowed) return null;
    const text = rule === null ? "Disallow" : `Disallow: ${storable(rule.pattern, 200)} (line ${rule.line})`;
    return ban("robots_txt", group === "specific" ? crawler.toLowerCase() : "*", text);
  };
}

function ban(source: IndexBan["source"], agent: string, rule: string): IndexBan {
  return { source, user_agent: agent, rule };
}
