import type { RobotsFile, RobotsGroup } from "#probe-agent/analysis/web/robots/parse.ts";

/** A line that is understood and does not do what its author must have meant. */
export interface RobotsFault {
  readonly line: number;
  readonly message: string;
}

const MAX_SHOWN = 60;

/** Rules and sitemaps without effect, in the order of the file; those of Lighthouse's audit "robots-txt". */
export function robotsFaults({ groups, orphans, sitemaps, emptySitemaps, unknown }: RobotsFile): RobotsFault[] {
  const faults = [
    ...orphans.map((line) => ({ line, message: "stands before the first user-agent line, so it is for nobody" })),
    ...groups.flatMap(({ rules }) =>
      rules.flatMap(({ line, pattern }) => {
        const message = patternFault(pattern);
        return message === null ? [] : [{ line, message }];
      }),
    ),
    ...groups.flatMap(({ userAgents }) =>
      userAgents
        .filter(({ written }) => written === "")
        .map(({ line }) => ({ line, message: "the user-agent line names no crawler, so its rules are for nobody" })),
    ),
    ...unknown
      .filter(({ key, value }) => /^crawl-delay$/i.test(key) && !/^\d{1,9}(?:\.\d{1,9})?$/.test(value))
      .map(({ line, value }) => ({ line, message: `the crawl delay ${quoted(value)} is no number of seconds` })),
    ...emptySitemaps.map((line) => ({ line, message: "the sitemap line names no address" })),
    ...sitemaps
      .filter(({ url }) => !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
      .map(({ line, url }) => ({ line, message: `the sitemap ${quoted(url)} is no absolute http(s) address` })),
  ];
  return faults.toSorted((one, other) => one.line - other.line);
}

/** User agents that are no product token (RFC 9309 section 2.2.1): crawlers that keep to it read only their beginning. */
export function agentFaults(groups: readonly RobotsGroup[]): RobotsFault[] {
  return groups.flatMap(({ userAgents }) =>
    userAgents
      .filter((agent) => agent.token !== "*" && shownAgent(agent) !== agent.token)
      .map(({ line, token, written }) => ({
        line,
        message: `${quoted(written)} is no product token of letters, - and _: some crawlers read ${quoted(token)}`,
      })),
  );
}

/** A user agent as its author means it: the token, or all of what is written where the token breaks off within a word. */
export function shownAgent({ token, written }: RobotsGroup["userAgents"][number]): string {
  const next = written.charAt(token.length);
  return token === "*" || (token !== "" && /^[\s/]?$/.test(next)) ? token : written;
}

function patternFault(pattern: string): string | null {
  if (pattern !== "" && !/^[/*$]/.test(pattern)) {
    return `${quoted(pattern)} begins with neither / nor *, so it matches nothing`;
  }
  const dollar = pattern.indexOf("$");
  return dollar === -1 || dollar === pattern.length - 1 ? null : "$ before the end of a pattern stands for itself";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
}
