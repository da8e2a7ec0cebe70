import { readRobotsLines, type RobotsLine, type RobotsSyntaxError } from "#probe-agent/analysis/web/robots/lines.ts";

/** An Allow or Disallow rule. */
export interface RobotsRule {
  readonly type: "allow" | "disallow";
  /** Percent-encoded where octets are not ASCII, escapes in upper case; one character per octet. */
  readonly pattern: string;
  readonly line: number;
  readonly offset: number;
}

/** Consecutive user-agent lines and the rules after them (RFC 9309 2.1). */
export interface RobotsGroup {
  /** Product tokens (letters, "-" and "_"; what follows is cut), "*" for everyone; as written otherwise. */
  readonly userAgents: readonly {
    readonly token: string;
    /** The value as it stands, e.g. "Ai2Bot", whose token is "Ai". */
    readonly written: string;
    readonly line: number;
  }[];
  readonly rules: readonly RobotsRule[];
  /** Seconds; not in RFC 9309, null where absent or no number. */
  readonly crawlDelaySeconds: number | null;
}

/** A parsed robots.txt. Groups are in the order of the file; merging those of one agent is the matcher's job. */
export interface RobotsFile {
  readonly groups: readonly RobotsGroup[];
  /** Sitemap lines that name something, absolute or not. */
  readonly sitemaps: readonly { readonly url: string; readonly line: number }[];
  /** Sitemap lines without an address. */
  readonly emptySitemaps: readonly number[];
  /** Lines with a key nobody knows (Crawl-delay, Content-Signal, Host, ...). They never end a group. */
  readonly unknown: readonly { readonly key: string; readonly value: string; readonly line: number }[];
  readonly errors: readonly RobotsSyntaxError[];
  /** Lines only lenient parsers understand. */
  readonly lenientLines: readonly number[];
  /** Lines of rules before the first user-agent line, which belong to nobody. */
  readonly orphans: readonly number[];
  /** How many of each the file has; the lists above are cut at MAX_LISTED. */
  readonly totals: {
    readonly sitemaps: number;
    readonly unknown: number;
    readonly errors: number;
    readonly lenient: number;
  };
}

interface OpenGroup {
  userAgents: { token: string; written: string; line: number }[];
  rules: RobotsRule[];
  crawlDelaySeconds: number | null;
}

/** How many entries of each list that only informs are kept. */
const MAX_LISTED = 1000;
/** Octets kept of a user agent as written. */
const MAX_AGENT = 200;

/** Reads any file into groups; rules before the first user-agent line belong to nobody and are dropped. */
export function parseRobots(file: string | Uint8Array): RobotsFile {
  const groups: OpenGroup[] = [];
  const sitemaps: { url: string; line: number }[] = [];
  const unknown: { key: string; value: string; line: number }[] = [];
  const errors: RobotsSyntaxError[] = [];
  const lenientLines: number[] = [];
  const orphans: number[] = [];
  const emptySitemaps: number[] = [];
  const totals = { sitemaps: 0, unknown: 0, errors: 0, lenient: 0 };
  let open: OpenGroup | null = null;
  readRobotsLines(file, {
    error: (error) => {
      totals.errors += 1;
      keep(errors, error);
    },
    line: (line) => {
      if (line.lenient) {
        totals.lenient += 1;
        keep(lenientLines, line.line);
      }
      if (line.key === "user-agent") {
        if (open === null || open.rules.length > 0) {
          open = { userAgents: [], rules: [], crawlDelaySeconds: null };
          groups.push(open);
        }
        const written = text(line.value.slice(0, MAX_AGENT));
        open.userAgents.push({ token: productToken(line.value), written, line: line.line });
      } else if (line.key === "allow" || line.key === "disallow") {
        if (open === null) keep(orphans, line.line);
        else open.rules.push(readRule(line, line.key));
      } else if (line.key === "sitemap") {
        if (line.value === "") keep(emptySitemaps, line.line);
        else {
          totals.sitemaps += 1;
          if (sitemaps.length < MAX_LISTED) sitemaps.push({ url: text(line.value), line: line.line });
        }
      } else {
        if (open !== null && line.name.toLowerCase() === "crawl-delay") open.crawlDelaySeconds = seconds(line.value);
        totals.unknown += 1;
        if (unknown.length >= MAX_LISTED) return;
        unknown.push({ key: text(line.name), value: text(line.value), line: line.line });
      }
    },
  });
  return { groups, sitemaps, emptySitemaps, unknown, errors, lenientLines, orphans, totals };
}

function keep<T>(list: T[], entry: T): void {
  if (list.length < MAX_LISTED) list.push(entry);
}

/** "*" (also followed by white space and more), else the leading letters, "-" and "_" (RFC 9309 2.2.1). */
function productToken(value: string): string {
  if (/^\*(?:\s|$)/.test(value)) return "*";
  return /^[A-Za-z_-]*/.exec(value)?.[0] ?? "";
}

function readRule(line: RobotsLine, type: RobotsRule["type"]): RobotsRule {
  return { type, pattern: escapePattern(line.value), line: line.line, offset: line.offset };
}

/** Octets above ASCII become %XX, %xx becomes %XX; everything else stays (RFC 9309 2.2.2). */
function escapePattern(value: string): string {
  if (!/[%\u0080-\u00FF]/.test(value)) return value;
  return value.replaceAll(/%[0-9A-Fa-f]{2}|[\u0080-\u00FF]/g, (match) =>
    match.length === 3 ? match.toUpperCase() : `%${match.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

function seconds(value: string): number | null {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : null;
}

function text(octets: string): string {
  return Buffer.from(octets, "latin1").toString("utf8");
}
