import { readRobotsLines, type RobotsLine, type RobotsSyntaxError } from "#probe-agent/analysis/web/robots/lines.ts";

/** An Allow or Disallow rule. */
export interface RobotsRule {
  readonly type: "allow" | "disallow";
  /** One character per octet. Octets that are not ASCII are percent-encoded; escapes are in upper case. */
  readonly pattern: string;
  readonly line: number;
  /** Octets of the file before the rule's line. */
  readonly offset: number;
}

/** Consecutive user-agent lines and the rules after them (RFC 9309 section 2.1). */
export interface RobotsGroup {
  /** User agents of the group. `token` is the leading letters, "-" and "_" of the value, or "*" for all crawlers. */
  readonly userAgents: readonly {
    readonly token: string;
    /** The whole value, e.g. "Ai2Bot", whose token is "Ai". */
    readonly written: string;
    readonly line: number;
  }[];
  readonly rules: readonly RobotsRule[];
  /** Not in RFC 9309. null if absent or not a number. */
  readonly crawlDelaySeconds: number | null;
}

/** A parsed robots.txt. Groups are in the order of the file; the matcher merges those of one agent. */
export interface RobotsFile {
  readonly groups: readonly RobotsGroup[];
  /** Sitemap lines with a value, absolute URL or not. */
  readonly sitemaps: readonly { readonly url: string; readonly line: number }[];
  /** Numbers of the Sitemap lines without a value. */
  readonly emptySitemaps: readonly number[];
  /** Lines with a key outside RFC 9309 (Crawl-delay, Content-Signal, Host, ...). They never end a group. */
  readonly unknown: readonly { readonly key: string; readonly value: string; readonly line: number }[];
  readonly errors: readonly RobotsSyntaxError[];
  /** Numbers of the lines that only lenient parsers accept. */
  readonly lenientLines: readonly number[];
  /** Numbers of the rules before the first user-agent line, which apply to no crawler. */
  readonly orphans: readonly number[];
  /** Numbers of entries in the file. The lists above have at most MAX_LISTED entries. */
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

/** Maximum length of each list that does not affect the rules. */
const MAX_LISTED = 1000;
/** Maximum length of `written`, in octets. */
const MAX_AGENT = 200;

/** Parses any file. Never fails. Rules before the first user-agent line apply to no crawler and are dropped. */
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

/** Returns "*" (also before white space and more), else the leading letters, "-" and "_" (RFC 9309 section 2.2.1). */
function productToken(value: string): string {
  if (/^\*(?:\s|$)/.test(value)) return "*";
  return /^[A-Za-z_-]*/.exec(value)?.[0] ?? "";
}

function readRule(line: RobotsLine, type: RobotsRule["type"]): RobotsRule {
  return { type, pattern: escapePattern(line.value), line: line.line, offset: line.offset };
}

/** Converts octets above ASCII to %XX and %xx to %XX. Everything else is unchanged (RFC 9309 section 2.2.2). */
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
