import { matchRobots } from "#probe-agent/analysis/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/robots/path.ts";
import { indexBan, type CrawlerDirectives } from "#probe-agent/analysis/seo/directives.ts";
import type { SeoBeside, SeoSource } from "#probe-agent/analysis/seo/snapshot.ts";
import { storable } from "#probe-agent/analysis/structured/excerpt.ts";

/** Something that keeps a page out of an index. */
export interface IndexBan {
  readonly source: "robots_txt" | "meta_robots" | "x_robots_tag" | "http_status";
  /** The crawler it is said to; "*": every one. */
  readonly user_agent: string;
  readonly rule: string;
}

/** Whether search engines may have a page in their index. */
export interface Indexable {
  /** For crawlers in general and Googlebot; null where robots.txt could not be read and nothing else forbids it. */
  readonly value: boolean | null;
  readonly blocked_by: IndexBan[];
  readonly crawlers: { crawler: string; indexable: boolean | null }[];
}

/** "*" stands for a crawler nobody has rules for. */
const CRAWLERS = ["*", "Googlebot", "Bingbot"] as const;

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
  const verdicts = CRAWLERS.map((crawler) => {
    const robots = robotsBan(where, crawler);
    const own = everywhere.filter(({ user_agent: agent }) => agent === "*" || agent === crawler.toLowerCase());
    const all = robots === null || robots === "unknown" ? own : [robots, ...own];
    return { crawler, all, indexable: all.length > 0 ? false : robots === "unknown" ? null : true };
  });
  const general = verdicts.slice(0, 2);
  const value = general.some((one) => one.indexable === false) ? false : (general[0]?.indexable ?? null);
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

/** RFC 9309 section 2.3.1: 4xx means everything is allowed, 5xx that nothing is. */
function robotsBan({ robots, url }: Where, crawler: string): IndexBan | "unknown" | null {
  if (!robots.known) return "unknown";
  if (robots.status >= 500) return ban("robots_txt", "*", `robots.txt answers with status ${robots.status}`);
  if (robots.text === null) return null;
  const { allowed, rule, group } = matchRobots(parseRobots(robots.text), [crawler], robotsPath(url));
  if (allowed) return null;
  const said = rule === null ? "Disallow" : `Disallow: ${storable(rule.pattern, 200)} (line ${rule.line})`;
  return ban("robots_txt", group === "specific" ? crawler.toLowerCase() : "*", said);
}

function ban(source: IndexBan["source"], agent: string, rule: string): IndexBan {
  return { source, user_agent: agent, rule };
}
