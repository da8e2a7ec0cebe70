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
        const written = textOf(line.value.slice(0, MAX_AGENT));
        open.userAgents.push({ token: productToken(line.value), written, line: line.line });
      } else if (line.key === "allow" || line.key === "disallow") {
        if (open === null) keep(orphans, line.line);
        else open.rules.push(readRule(line, line.key));
      } else if (line.key === "sitemap") {
        if (line.value === "") keep(emptySitemaps, line.line);
        else {
          totals.sitemaps += 1;
          if (sitemaps.length < MAX_LISTED) sitemaps.push({ url: textOf(line.value), line: line.line });
        }
      } else {
        if (open !== null && line.name.toLowerCase() === "crawl-delay") open.crawlDelaySeconds = seconds(line.value);
        totals.unknown += 1;
        if (unknown.length >= MAX_LISTED) return;
        unknown.push({ key: textOf(line.name), value: textOf(line.value), line: line.line });
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

function textOf(octets: string): string {
  return Buffer.from(octets, "latin1").toString("utf8");
}

/** Meaning of a line's key. */
type RobotsKey = "user-agent" | "allow" | "disallow" | "sitemap" | "unknown";

/** One `key: value` line. Text has one character per octet (latin1): lengths are octets (RFC 9309 section 2.2.2). */
interface RobotsLine {
  /** From 1; CR, LF and CRLF each end one line. */
  readonly line: number;
  readonly key: RobotsKey;
  /** The key, unchanged. */
  readonly name: string;
  readonly value: string;
  /** Whether only lenient parsers accept the line: the key is a known misspelling, or the colon is missing. */
  readonly lenient: boolean;
  /** Octets of the file before this line. */
  readonly offset: number;
}

/** A line that is neither empty nor a comment nor `key: value`. */
interface RobotsSyntaxError {
  readonly line: number;
  readonly message: string;
}

/** Octets of a line that Google's parser keeps: 8 times the longest URL of an old browser, minus the final NUL. */
const MAX_LINE_OCTETS = 2083 * 8 - 1;

const DISALLOW_MISSPELLINGS = ["dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const USER_AGENT_MISSPELLINGS = ["useragent", "user agent"];
const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";

/** Passes each line of a robots.txt that has content or a syntax error to the receiver. Never throws. */
function readRobotsLines(
  file: string | Uint8Array,
  receive: { line(line: RobotsLine): void; error(error: RobotsSyntaxError): void },
): void {
  const octets = Buffer.from(typeof file === "string" ? Buffer.from(file, "utf8") : file).toString("latin1");
  let number = 0;
  let start = byteOrderMarkLength(octets);
  for (let at = start; at <= octets.length; at += 1) {
    const code = at < octets.length ? octets.charCodeAt(at) : LF;
    if (code !== LF && code !== CR) continue;
    number += 1;
    if (at > start) {
      const read = readLine(octets.slice(start, Math.min(at, start + MAX_LINE_OCTETS)), number, start);
      if (read !== null && "message" in read) receive.error(read);
      else if (read !== null) receive.line(read);
    }
    if (code === CR && octets.charCodeAt(at + 1) === LF) at += 1;
    start = at + 1;
  }
}

/** Returns the length of a whole or partial UTF-8 byte order mark at the start of the file. It is skipped. */
function byteOrderMarkLength(octets: string): number {
  let length = 0;
  while (length < BYTE_ORDER_MARK.length && octets[length] === BYTE_ORDER_MARK[length]) length += 1;
  return length;
}

function readLine(raw: string, line: number, offset: number): RobotsLine | RobotsSyntaxError | null {
  const nul = raw.indexOf("\0");
  const visible = nul === -1 ? raw : raw.slice(0, nul);
  const comment = visible.indexOf("#");
  const text = strip(comment === -1 ? visible : visible.slice(0, comment));
  if (text === "") return null;
  const colon = text.indexOf(":");
  // Without a colon, white space separates key and value, but only if the line has exactly two words.
  const missing = colon === -1 ? /^([^ \t]+)[ \t]+([^ \t]+)$/.exec(text) : null;
  if (colon === -1 && missing === null) return { line, message: "not a key and a value separated by a colon" };
  const name = missing === null ? strip(text.slice(0, colon)) : (missing[1] ?? "");
  const value = missing === null ? strip(text.slice(colon + 1)) : (missing[2] ?? "");
  if (name === "") return { line, message: "a colon without a key before it" };
  const { key, misspelt } = classify(name.slice(0, 16).toLowerCase());
  return { line, key, name, value, lenient: misspelt || missing !== null, offset };
}

/** Classifies a key by its prefix, as Google's parser does. */
function classify(name: string): { key: RobotsKey; misspelt: boolean } {
  const hasPrefix = (prefix: string): boolean => name.startsWith(prefix);
  if (hasPrefix("user-agent")) return { key: "user-agent", misspelt: name !== "user-agent" };
  if (USER_AGENT_MISSPELLINGS.some(hasPrefix)) return { key: "user-agent", misspelt: true };
  if (hasPrefix("allow")) return { key: "allow", misspelt: name !== "allow" };
  if (hasPrefix("disallow")) return { key: "disallow", misspelt: name !== "disallow" };
  if (DISALLOW_MISSPELLINGS.some(hasPrefix)) return { key: "disallow", misspelt: true };
  if (hasPrefix("sitemap")) return { key: "sitemap", misspelt: name !== "sitemap" };
  if (hasPrefix("site-map")) return { key: "sitemap", misspelt: true };
  return { key: "unknown", misspelt: false };
}

/** Removes ASCII white space from both ends, in linear time, unlike a regular expression anchored at the end. */
function strip(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
