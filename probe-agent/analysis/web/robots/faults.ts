import type { RobotsFile, RobotsGroup } from "#probe-agent/analysis/web/robots/parse.ts";

/** Kinds of lines that do not have the intended effect. */
type RobotsFaultId =
  | "rule-before-user-agent"
  | "pattern-matches-nothing"
  | "dollar-within-pattern"
  | "user-agent-empty"
  | "crawl-delay-not-a-number"
  | "sitemap-empty"
  | "sitemap-not-absolute"
  | "user-agent-not-a-token";

/** A line with valid syntax that does not have the effect that its author must have intended. */
interface RobotsFault {
  readonly line: number;
  /** Kebab-case; a key of ROBOTS_LINES. */
  readonly id: RobotsFaultId;
  /** Follows "Line 3: ". */
  readonly message: string;
}

const MAX_SHOWN = 60;

/** Finds lines without effect, in the order of the file. The checks are those of Lighthouse's audit "robots-txt". */
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
          fault(line, "user-agent-empty", "the user-agent line has no name, so no crawler applies its rules"),
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

/** Finds user agents that are not product tokens (RFC 9309 section 2.2.1). Strict crawlers read only their start. */
export function agentFaults(groups: readonly RobotsGroup[]): RobotsFault[] {
  return groups.flatMap(({ userAgents }) =>
    userAgents
      .filter((agent) => agent.token !== "*" && shownAgent(agent) !== agent.token)
      .map(({ line, token, written }) =>
        fault(
          line,
          "user-agent-not-a-token",
          `${quoted(written)} is not a product token, which has only letters, - and _; some crawlers read it as ${quoted(token)}`,
        ),
      ),
  );
}

/** Returns a user agent as its author intends it: the token, or the whole value if the token ends within a word. */
export function shownAgent({ token, written }: RobotsGroup["userAgents"][number]): string {
  const next = written.charAt(token.length);
  return token === "*" || (token !== "" && /^[\s/]?$/.test(next)) ? token : written;
}

function patternFaults(line: number, pattern: string): RobotsFault[] {
  if (pattern !== "" && !/^[/*$]/.test(pattern)) {
    return [
      fault(line, "pattern-matches-nothing", `${quoted(pattern)} starts with neither / nor *, so it matches nothing`),
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
