import { withoutTrailing } from "#shared/strip-trailing.ts";
import { readMailDate, type MailDate } from "#probe-agent/analysis/mail/email-headers/date.ts";
import { tokenize, type Token } from "#probe-agent/analysis/mail/email-headers/lexer.ts";
import { readClient } from "#probe-agent/analysis/mail/email-headers/received/client.ts";
import { readTls, type ReceivedTls } from "#probe-agent/analysis/mail/email-headers/received/tls.ts";

/** A parsed Received field (RFC 5321 section 4.4, and the forms in practice). A value is null if absent. */
export interface Received {
  /** The client's own name (HELO or EHLO), or the host that delivered the message. */
  readonly from: string | null;
  /** Name that the server found for the client's address; null if it recorded none. */
  readonly rdns: string | null;
  /** The client's address as the server saw it. */
  readonly ip: string | null;
  readonly by: string | null;
  readonly via: string | null;
  readonly with: string | null;
  readonly id: string | null;
  readonly for: string | null;
  readonly envelopeFrom: string | null;
  /** Whether the client logged in, by the name of the protocol (RFC 3848) or a comment of the server. */
  readonly authenticated: boolean;
  readonly tls: ReceivedTls | null;
  readonly date: MailDate | null;
}

type Clause = "from" | "by" | "via" | "with" | "id" | "for";

const CLAUSES: ReadonlySet<string> = new Set<Clause>(["from", "by", "via", "with", "id", "for"]);
const GRAMMAR = { specials: ";", literals: false };

interface Part {
  readonly words: string[];
  readonly comments: string[];
}

/** Parses one Received field. All its parts are optional. Reads each token once. */
export function readReceived(value: string): Received {
  const { tokens } = tokenize(value, GRAMMAR);
  const end = tokens.findLastIndex(({ kind }) => kind === "special");
  const trace = (end < 0 ? tokens : tokens.slice(0, end)).filter(({ kind }) => kind !== "special");
  const parts = splitClauses(trace);
  const allComments = tokens.flatMap(({ kind, text }) => (kind === "comment" ? [text] : []));
  const from = parts.get("from");
  const { name, rdns, ip } = readClient(from ?? { words: [], comments: parts.get("none")?.comments ?? [] });
  const protocol = protocolOf(parts.get("with"));
  return {
    from: name,
    rdns,
    ip,
    by: bare(parts.get("by")?.words[0]),
    via: phrase(parts.get("via")),
    with: protocol,
    id: bare(parts.get("id")?.words[0]),
    for: bare(parts.get("for")?.words[0]),
    envelopeFrom: envelopeFrom(allComments),
    authenticated: isAuthenticated(protocol, allComments),
    tls: readTls(protocol, parts.get("with")?.words ?? [], allComments),
    date: readDate(tokens, end),
  };
}

/** Groups words and comments by the keyword before them. The first occurrence of a keyword counts. */
function splitClauses(tokens: readonly Token[]): Map<string, Part> {
  const parts = new Map<string, Part>([["none", { words: [], comments: [] }]]);
  let current: Part = parts.get("none") ?? { words: [], comments: [] };
  for (const { kind, text } of tokens) {
    const keyword = text.toLowerCase();
    if (kind === "comment") current.comments.push(text);
    else if (kind === "word" && CLAUSES.has(keyword) && !parts.has(keyword)) {
      current = { words: [], comments: [] };
      parts.set(keyword, current);
    } else current.words.push(text);
  }
  return parts;
}

/** Maximum number of characters of a value. Names, addresses and ids are shorter. */
const MAX_WORD = 512;

/** Removes angle brackets and a final comma or semicolon from a word. */
function bare(word: string | undefined): string | null {
  if (word === undefined) return null;
  const text = withoutTrailing(word.slice(0, MAX_WORD), (character) => character === "," || character === ";");
  const inside = text.startsWith("<") && text.endsWith(">") ? text.slice(1, -1) : text;
  return inside === "" ? null : inside;
}

function phrase(part: Part | undefined): string | null {
  return part === undefined || part.words.length === 0 ? null : part.words.join(" ").slice(0, MAX_WORD);
}

/** Reads the protocol: a registered word without Exim's "tls <suite>", or a product such as "Microsoft SMTP Server". */
function protocolOf(part: Part | undefined): string | null {
  const [first, ...more] = part?.words ?? [];
  if (first === undefined) return null;
  const isRegistered = /^(?:utf8)?[el]?s?mtps?a?$/i.test(first);
  return (isRegistered ? first : [first, ...more].join(" ")).slice(0, MAX_WORD);
}

function envelopeFrom(comments: readonly string[]): string | null {
  for (const comment of comments) {
    const found = /\benvelope-from[ =]<?([^\s<>()]{1,320})>?/i.exec(comment.slice(0, 1024));
    if (found) return found[1] ?? null;
  }
  return null;
}

function isAuthenticated(protocol: string | null, comments: readonly string[]): boolean {
  if (/^(?:utf8smtp|(?:utf8)?lmtp|esmtp)s?a$/i.test(protocol ?? "")) return true;
  return comments.some((comment) => /^authenticated (?:sender|bits|user|as)\b/i.test(comment));
}

/** Reads the date after the last semicolon. Some servers end the field with a date without a semicolon. */
function readDate(tokens: readonly Token[], end: number): MailDate | null {
  const words = (list: readonly Token[]): string[] =>
    list.flatMap(({ kind, text }) => (kind === "comment" ? [] : [text]));
  if (end >= 0) {
    const text = words(tokens.slice(end + 1)).join(" ");
    return text === "" ? null : readMailDate(text);
  }
  const last = words(tokens).slice(-6);
  for (const length of [6, 5]) {
    const date = readMailDate(last.slice(-length).join(" "));
    if (date.time !== null) return date;
  }
  return null;
}
