import type { RawHeader } from "#probe-agent/net/http/header-text.ts";
import { readStatusLine, statusLineFaults } from "#probe-agent/net/http/status-line.ts";
import { createOctets } from "#probe-agent/net/octets.ts";

/** Status line and header fields of one response, as sent. */
export interface ResponseHead {
  /** "1.0", "1.1", "2", or any other version that the server claims. */
  readonly version: string;
  readonly code: number;
  /** Latin1; empty on HTTP/2. */
  readonly statusText: string;
  /** Wire order and case, repeats kept. */
  readonly headers: readonly RawHeader[];
  /** Violations of RFC 9112 that the parser tolerated, each once. */
  readonly faults: readonly string[];
}

/** Maximum octets of all header sections of one exchange, including informational responses. */
export const MAX_HEAD_BYTES = 65_536;
/** Maximum number of header lines of one response. */
export const MAX_HEADER_LINES = 1000;
/** Message for a response above either limit. */
export const HEAD_TOO_LARGE = `the response header is too large: over ${MAX_HEAD_BYTES / 1024} KB or ${MAX_HEADER_LINES} lines`;

/**
 * Parses a complete head (up to the empty line, latin1). Tolerates what browsers tolerate: bare LF, obs-fold, spaces
 * before the colon and lines that are not fields. `faults` lists them. Returns null if there is no usable status line.
 */
export function parseHead(text: string): ResponseHead | null {
  const faults = new Set<string>();
  if (/(^|[^\r])\n/.test(text)) faults.add("bare_line_feed");
  const [first = "", ...lines] = text.split(/\r?\n/);
  const status = readStatusLine(trim(first));
  if (status === null) return null;
  for (const fault of statusLineFaults(status)) faults.add(fault);
  const headers: [string, string][] = [];
  for (const line of lines) {
    if (line === "") continue;
    const last = headers.at(-1);
    if (/^[ \t]/.test(line)) {
      // obs-fold is replaced by a space (RFC 9112 section 5.2)
      faults.add("obsolete_line_folding");
      if (last !== undefined) last[1] = `${last[1]} ${trim(line)}`;
      continue;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) {
      faults.add("malformed_header_line");
      continue;
    }
    const name = line.slice(0, colon);
    if (/[ \t]$/.test(name)) faults.add("space_before_colon");
    else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) faults.add("invalid_header_name");
    headers.push([trim(name), trim(line.slice(colon + 1))]);
  }
  return {
    version: status.version,
    code: status.code,
    statusText: trim(status.text),
    headers,
    faults: [...faults],
  };
}

/** Removes optional white space (RFC 9110 section 5.6.3) and nothing else, in linear time. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13;
}

/** Progress of reading an HTTP/1 head. */
export type HeadProgress =
  | { readonly state: "more" }
  | { readonly state: "head"; readonly head: ResponseHead; readonly rest: Buffer }
  | {
      readonly state: "broken";
      readonly reason: "not_http" | "protocol_error" | "headers_overflow";
      /** What arrived, at most MAX_HEAD_BYTES; latin1. */
      readonly seen: string;
    };

const PROTOCOL = "HTTP/";

/**
 * Creates a reader that collects octets until a head is complete. One reader reads all heads of an exchange and counts
 * their octets together. Its run time is linear in the octets, also if they arrive one by one.
 */
export function createHeadReader(): (chunk: Buffer) => HeadProgress {
  let pending = createOctets();
  let spent = 0;
  return (chunk) => {
    // The end can span two chunks: search from the last three octets on.
    const from = Math.max(0, pending.length - 3);
    // Most heads arrive in one piece, which needs no copy.
    const whole = pending.length === 0;
    if (!whole) pending.append(chunk);
    const octets = whole ? chunk : pending.view();
    const broken = (reason: "not_http" | "protocol_error" | "headers_overflow"): HeadProgress => {
      return { state: "broken", reason, seen: octets.toString("latin1", 0, Math.min(octets.length, MAX_HEAD_BYTES)) };
    };
    const start = from < PROTOCOL.length ? octets.toString("latin1", 0, PROTOCOL.length) : PROTOCOL;
    if (!PROTOCOL.startsWith(start)) return broken("not_http");
    const end = endOfHead(octets, from);
    const size = end === -1 ? octets.length : end;
    if (spent + size > MAX_HEAD_BYTES) return broken("headers_overflow");
    if (end === -1) {
      if (whole) pending.append(chunk);
      return { state: "more" };
    }
    spent += end;
    const head = parseHead(octets.toString("latin1", 0, end));
    if (head === null) return broken("protocol_error");
    if (head.headers.length > MAX_HEADER_LINES) return broken("headers_overflow");
    pending = createOctets();
    return { state: "head", head, rest: octets.subarray(end) };
  };
}

/** Returns the index after the empty line that ends a head; -1 if there is none. Both CRLF and bare LF end lines. */
function endOfHead(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(10, from); at !== -1; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 2;
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3;
  }
  return -1;
}
