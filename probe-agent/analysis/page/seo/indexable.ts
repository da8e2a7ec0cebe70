import { createMatcher } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";
import { SEARCH_CRAWLERS, verdictFor, type SearchCrawler } from "#probe-agent/analysis/web/robots/search-crawlers.ts";
import { indexBan, type CrawlerDirectives } from "#probe-agent/analysis/page/seo/directives.ts";
import type { SeoBeside, SeoSource } from "#probe-agent/analysis/page/seo/snapshot.ts";
import { storable } from "#probe-agent/analysis/page/structured/excerpt.ts";

/** Something that keeps a page out of an index. */
interface IndexBan {
  readonly source: "robots_txt" | "meta_robots" | "x_robots_tag" | "http_status";
  /** The crawler it is said to; "*": every one. */
  readonly user_agent: string;
  readonly rule: string;
}

/** Whether search engines may have a page in their index. */
interface Indexable {
  /**
   * False where every crawler is barred, as in Lighthouse's audit "is-crawlable"; null where robots.txt could not be
   * read and not every crawler is barred by something else.
   */
  readonly value: boolean | null;
  readonly blocked_by: IndexBan[];
  readonly crawlers: { crawler: string; indexable: boolean | null }[];
}

/** "*" means any other crawler. */
const CRAWLERS: readonly SearchCrawler[] = [{ name: "*", tokens: ["*"] }, ...SEARCH_CRAWLERS];

type Where = Pick<SeoSource, "url" | "status"> & Pick<SeoBeside, "robots">;

/** Joins what status, robots.txt, robots meta elements and X-Robots-Tag say. */
export function judgeIndexable(
  where: Where,
  meta: readonly CrawlerDirectives[],
  header: readonly CrawlerDirectives[],
): Indexable {
  const everywhere: IndexBan[] = [
    ...(where.status >= 400 ? [ban("http_status", "*", `status ${where.status}`)] : []),
    ...bans(meta, "meta_robots"),
    ...bans(header, "x_robots_tag"),
  ];
  const banOf = robotsBans(where);
  const verdicts = CRAWLERS.map(({ name: crawler, tokens }) => {
    const robots = banOf(crawler, tokens);
    const own = everywhere.filter(({ user_agent: agent }) => agent === "*" || agent === crawler.toLowerCase());
    const all = robots === null || robots === "unknown" ? own : [robots, ...own];
    return { crawler, all, indexable: all.length > 0 ? false : robots === "unknown" ? null : true };
  });
  const isOpen = verdicts.some((one) => one.indexable === true);
  const value = isOpen ? true : verdicts.every((one) => one.indexable === false) ? false : null;
  const unique = new Map(
    verdicts.flatMap(({ all }) => all).map((one) => [`${one.source} ${one.user_agent} ${one.rule}`, one]),
  );
  return {
    value,
    blocked_by: [...unique.values()],
    crawlers: verdicts.map(({ crawler, indexable }) => ({ crawler, indexable })),
  };
}

function bans(list: readonly CrawlerDirectives[], source: IndexBan["source"]): IndexBan[] {
  return list.flatMap((one) => {
    const rule = indexBan(one);
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

type RobotsBan = (crawler: string, tokens: readonly string[]) => IndexBan | "unknown" | null;

/** What robots.txt says to a crawler. RFC 9309 section 2.3.1: 4xx means everything is allowed, 5xx that nothing is. */
function robotsBans({ robots, url }: Where): RobotsBan {
  if (!robots.known) return () => "unknown";
  if (robots.status >= 500) {
    const failing = ban("robots_txt", "*", `robots.txt answers with status ${robots.status}`);
    return () => failing;
  }
  if (robots.text === null) return () => null;
  const match = createMatcher(parseRobots(robots.text), robotsPath(url));
  return (crawler, tokens) => {
    const { allowed, rule, group } = verdictFor(match, tokens);
    if (allowed) return null;
    const said = rule === null ? "Disallow" : `Disallow: ${storable(rule.pattern, 200)} (line ${rule.line})`;
    return ban("robots_txt", group === "specific" ? crawler.toLowerCase() : "*", said);
  };
}

function ban(source: IndexBan["source"], agent: string, rule: string): IndexBan {
  return { source, user_agent: agent, rule };
}
