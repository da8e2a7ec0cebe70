import { matchRobots } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";

/**
 * Reports whether a robots.txt allows any of `agents` (product tokens, e.g. "Googlebot") to fetch `url`, by RFC 9309
 * with the extensions of Google's open-source parser. The groups of all named agents are combined. If no agent is
 * named, the "*" groups apply. An empty agent matches only "*". `url` must be escaped; an empty or invalid URL means
 * "/".
 */
export function robotsAllowed(robotsTxt: string | Uint8Array, agents: readonly string[], url: string): boolean {
  return matchRobots(parseRobots(robotsTxt), agents, robotsPath(url)).allowed;
}
