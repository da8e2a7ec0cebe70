/** Meaning of a line's key. */
type RobotsKey = "user-agent" | "allow" | "disallow" | "sitemap" | "unknown";

/** One `key: value` line. Text has one character per octet (latin1): lengths are octets (RFC 9309 section 2.2.2). */
export interface RobotsLine {
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
export interface RobotsSyntaxError {
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
export function readRobotsLines(
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
