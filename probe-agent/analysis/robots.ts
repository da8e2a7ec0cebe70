import { matchRobots } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";

/**
 * Whether a robots.txt lets any of `agents` (product tokens, e.g. "Googlebot") fetch `url`, by RFC 9309 with the
 * extensions of Google's open-source parser. The groups of all named agents count as one; where none is named the
 * "*" groups apply; an empty agent matches only "*". The URL is taken as escaped; empty or unparsable means "/".
 */
export function robotsAllowed(robotsTxt: string | Uint8Array, agents: readonly string[], url: string): boolean {
  return matchRobots(parseRobots(robotsTxt), agents, robotsPath(url)).allowed;
}
