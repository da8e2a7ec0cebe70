import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { readMailDate, type MailDate } from "#probe-agent/analysis/mail/email-headers/date.ts";
import { tokenize, type Token } from "#probe-agent/analysis/mail/email-headers/lexer.ts";
import { readClient } from "#probe-agent/analysis/mail/email-headers/received/client.ts";

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

/** TLS session as a Received field records it. */
interface ReceivedTls {
  /** E.g. TLSv1.3; null if only the name of the protocol indicates TLS. */
  readonly version: string | null;
  /** Cipher suite as the server names it. */
  readonly cipher: string | null;
  /** Strength of the encryption in bits, as the server states it. */
  readonly bits: number | null;
}

const MAX_COMMENT = 1024;
// Protocols with TLS: RFC 3848, RFC 6531 section 4.3.
const SECURE_PROTOCOL = /^(?:utf8)?(?:esmtp|lmtp|smtp)s(?:a)?$/i;

/** Forms of comments: Postfix and Sendmail; Gmail and Exchange; Exim. */
const FORMS: readonly RegExp[] = [
  /\busing (?<version>TLSv?[\d.]+|SSLv?\d)(?: with cipher (?<cipher>[\w-]{3,64})(?: \((?<bits>\d{2,4})\/)?)?/i,
  /\bversion=(?<version>(?:TLS|SSL)[\w.]{1,8})[, ]{1,3}cipher=(?<cipher>[\w-]{3,64})(?:[, ]{1,3}bits=(?<bits>\d{2,4}))?/i,
  /^(?<version>(?:TLS|SSL)v?\d(?:\.\d)?)(?::(?<cipher>[\w-]{3,64})(?::(?<bits>\d{2,4}))?)?$/i,
];

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

/** Reads TLS from the comments and the protocol. Null if the field records none, although TLS may have been used. */
function readTls(
  protocol: string | null,
  withWords: readonly string[],
  comments: readonly string[],
): ReceivedTls | null {
  for (const comment of comments) {
    const short = comment.slice(0, MAX_COMMENT);
    for (const form of FORMS) {
      const groups = form.exec(short)?.groups;
      if (groups === undefined) continue;
      const bits = groups["bits"];
      return {
        version: versionName(groups["version"] ?? ""),
        cipher: groups["cipher"] ?? eximCipher(withWords),
        bits: bits === undefined ? null : Number(bits),
      };
    }
  }
  const isIndicated =
    SECURE_PROTOCOL.test(protocol ?? "") || comments.some((comment) => /^(?:TLS|encrypted)$/i.test(comment.trim()));
  return isIndicated ? { version: null, cipher: eximCipher(withWords), bits: null } : null;
}

/** Reads the suite from Exim's "with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384". */
function eximCipher(words: readonly string[]): string | null {
  const at = words.findIndex((word) => word.toLowerCase() === "tls");
  const suite = at < 0 ? undefined : words[at + 1];
  return suite === undefined || !/^[\w-]{3,64}$/.test(suite) ? null : suite;
}

/** Normalizes the name of a version. TLS1_3, TLS1.3 and TLSv1.3 are equal. */
function versionName(written: string): string {
  const found = /^(TLS|SSL)v?(\d)(?:[._](\d))?$/i.exec(written);
  if (found === null) return written;
  const [, family = "", major = "", minor] = found;
  return `${family.toUpperCase()}v${major}${minor === undefined ? "" : `.${minor}`}`;
}
