import type { RobotsFile, RobotsGroup } from "#probe-agent/analysis/web/robots/parse.ts";

/** Kinds of lines without the effect that was meant. */
export type RobotsFaultId =
  | "rule-before-user-agent"
  | "pattern-matches-nothing"
  | "dollar-within-pattern"
  | "user-agent-empty"
  | "crawl-delay-not-a-number"
  | "sitemap-empty"
  | "sitemap-not-absolute"
  | "user-agent-not-a-token";

/** A line that is understood and does not do what its author must have meant. */
export interface RobotsFault {
  readonly line: number;
  /** Kebab-case; a key of ROBOTS_LINES. */
  readonly id: RobotsFaultId;
  /** Follows "Line 3: ". */
  readonly message: string;
}

const MAX_SHOWN = 60;

/** Rules and sitemaps without effect, in the order of the file; those of Lighthouse's audit "robots-txt". */
export function robotsFaults({ groups, orphans, sitemaps, emptySitemaps, unknown }: RobotsFile): RobotsFault[] {
  const faults: RobotsFault[] = [
    ...orphans.map((line) =>
      fault(line, "rule-before-user-agent", "the rule precedes the first user-agent line, so no crawler applies it"),
    ),
    ...groups.flatMap(({ rules }) => rules.flatMap(({ line, pattern }) => patternFaults(line, pattern))),
    ...groups.flatMap(({ userAgents }) =>
      userAgents
        .filter(({ written }) => written === "")
        .map(({ line }) =>
          fault(line, "user-agent-empty", "the user-agent line names no crawler, so no crawler applies its rules"),
        ),
    ),
    ...unknown
      .filter(({ key, value }) => /^crawl-delay$/i.test(key) && !/^\d{1,9}(?:\.\d{1,9})?$/.test(value))
      .map(({ line, value }) =>
        fault(line, "crawl-delay-not-a-number", `the crawl delay ${quoted(value)} is not a number of seconds`),
      ),
    ...emptySitemaps.map((line) => fault(line, "sitemap-empty", "the sitemap line has no URL")),
    ...sitemaps
      .filter(({ url }) => !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
      .map(({ line, url }) =>
        fault(line, "sitemap-not-absolute", `the sitemap ${quoted(url)} is not an absolute http or https URL`),
      ),
  ];
  return faults.toSorted((one, other) => one.line - other.line);
}

/** User agents that are no product token (RFC 9309 section 2.2.1): crawlers that keep to it read only their beginning. */
export function agentFaults(groups: readonly RobotsGroup[]): RobotsFault[] {
  return groups.flatMap(({ userAgents }) =>
    userAgents
      .filter((agent) => agent.token !== "*" && shownAgent(agent) !== agent.token)
      .map(({ line, token, written }) =>
        fault(
          line,
          "user-agent-not-a-token",
          `${quoted(written)} is not a product token of letters, - and _; some crawlers read it as ${quoted(token)}`,
        ),
      ),
  );
}

/** A user agent as its author means it: the token, or all of what is written where the token breaks off within a word. */
export function shownAgent({ token, written }: RobotsGroup["userAgents"][number]): string {
  const next = written.charAt(token.length);
  return token === "*" || (token !== "" && /^[\s/]?$/.test(next)) ? token : written;
}

function patternFaults(line: number, pattern: string): RobotsFault[] {
  if (pattern !== "" && !/^[/*$]/.test(pattern)) {
    return [
      fault(line, "pattern-matches-nothing", `${quoted(pattern)} begins with neither / nor *, so it matches nothing`),
    ];
  }
  const dollar = pattern.indexOf("$");
  if (dollar === -1 || dollar === pattern.length - 1) return [];
  return [
    fault(line, "dollar-within-pattern", `$ within ${quoted(pattern)} matches a dollar sign, not the end of the URL`),
  ];
}

function fault(line: number, id: RobotsFaultId, message: string): RobotsFault {
  return { line, id, message };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
