import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { readMailDate, type MailDate } from "#probe-agent/tools/email-header/date.ts";
import { tokenize, type Token } from "#probe-agent/tools/email-header/lexer.ts";
import { literalFamily } from "#shared/egress/addresses.ts";

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

/** The client of a hop. A value is null if the field does not have it. */
interface Client {
  /** The client's own name (HELO, EHLO, LHLO), or the only name in the field. */
  readonly name: string | null;
  /** The name that the server found for the client's address. */
  readonly rdns: string | null;
  /** The client's address as the server saw it, never an address that the client only claims. */
  readonly ip: string | null;
}

/** Maximum number of characters of a word or comment that are read. */
const MAX_READ = 512;
const HELO = /\b(?:HELO|EHLO|LHLO)[ =]"?([^\s()"]{1,255})/i;
// The text after this is a claim of the client: its greeting or the answer of its ident service.
const CLAIM = /\b(?:(?:HELO|EHLO|LHLO)(?:[ =]|$)|ident=)/i;
// Comments on the session instead of the client: TLS, login, proxies, the envelope.
const REMARK =
  /^(?:using|client|no client|tls|ssl|version=|cipher|auth|authenticated|squirrelmail|openwebmail|proxying|forwarded-for|via|for|envelope-from|envelope-sender|peer)(?:[\s:=,]|$)/i;
const LABELLED = /(?:^|\s)(?:ip|client-ip|remote-ip)[:=]([0-9A-Fa-f:.]{2,45})(?:\s|$)/i;
// IPv4 address of a client on a dual-stack socket, as Courier writes it.
const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;
const WITH_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;

/**
 * Reads the text between "from" and "by". Servers write the address that they saw in a comment ("TCP-info", RFC 5321
 * section 4.4), as another word, or as the only word (Exim, if the address has no name). An address literal in the
 * first position is the client's greeting if the server also recorded the connection.
 */
function readClient({ words, comments }: { words: readonly string[]; comments: readonly string[] }): Client {
  const [first = "", ...further] = words.map((word) => word.slice(0, MAX_READ));
  const said = nameOf(first);
  let helo: string | null = null;
  let seen: Pick<Client, "ip" | "rdns"> | null = null;
  for (const comment of comments) {
    const short = comment.slice(0, MAX_READ);
    if (REMARK.test(short)) continue;
    helo ??= HELO.exec(short)?.[1] ?? null;
    const claim = short.search(CLAIM);
    const noted = claim === -1 ? short : short.slice(0, claim);
    if (seen?.ip === undefined || seen.ip === null) seen = readConnection(noted) ?? seen;
  }
  const beside = further.map(addressOf).find((ip) => ip !== null) ?? null;
  const ip = seen?.ip ?? beside ?? (seen === null ? addressOf(first) : null);
  const rdns = seen?.rdns ?? null;
  // Exim, qmail and similar servers write the name that they found first, and the client's own name in a comment.
  return helo === null ? { name: said, rdns, ip } : { name: helo, rdns: rdns ?? hostName(said), ip };
}

/**
 * Reads the connection from a comment. Null if the comment has none. Local sockets have brackets without an address.
 */
function readConnection(comment: string): Pick<Client, "ip" | "rdns"> | null {
  const at = comment.indexOf("[");
  if (at !== -1) {
    const ip = addressOf(comment.slice(at));
    if (ip !== null) return { ip, rdns: nameBefore(comment.slice(0, at)) };
  }
  const labelled = LABELLED.exec(comment)?.[1];
  if (labelled !== undefined && literalFamily(labelled) !== null) return { ip: labelled, rdns: null };
  const [one = "", other, ...more] = comment.split(/[\s,;]+/).filter((word) => word !== "");
  const ip = addressOf(one.slice(one.lastIndexOf("@") + 1));
  if (ip !== null) return { ip, rdns: null };
  const second = other === undefined || more.length > 0 ? null : addressOf(other);
  if (second !== null) return { ip: second, rdns: nameBefore(one) };
  return at === -1 ? null : { ip: null, rdns: null };
}

/** Reads an address: 192.0.2.1, 192.0.2.1:25, fe80::1%12, [192.0.2.1]:25, [IPv6:2001:db8::1]. Null for other texts. */
function addressOf(text: string): string | null {
  if (text.startsWith("[")) {
    const end = text.indexOf("]");
    const inside = end === -1 ? "" : text.slice(1, end).trim();
    return addressOf(/^IPv6:/i.test(inside) ? inside.slice("IPv6:".length) : inside);
  }
  const [unzoned = ""] = text.split("%", 1);
  const alone = WITH_PORT.exec(unzoned)?.[1] ?? unzoned;
  const mapped = MAPPED.exec(alone)?.[1] ?? alone;
  return literalFamily(mapped) === null ? null : mapped;
}

/** Reads the host in "name", "name.", "user@name" or "IDENT:user@name". Null for words such as "unknown". */
function nameBefore(text: string): string | null {
  const [first = ""] = text.trimStart().split(/[\s[(]/);
  return hostName(first.slice(first.lastIndexOf("@") + 1));
}

function hostName(text: string | null): string | null {
  if (text === null || addressOf(text) !== null) return null;
  const name = text.replace(/\.$/, "");
  return /^[\p{L}\p{N}_-][\p{L}\p{N}._-]{0,254}$/u.test(name) && name.includes(".") ? name : null;
}

/** Returns the first word without its final punctuation. Null for "unknown", which qmail writes for no name. */
function nameOf(word: string): string | null {
  const inside = word.startsWith("<") && word.endsWith(">") ? word.slice(1, -1) : word;
  const name = inside.replace(/[,;]$/, "");
  return name === "" || /^unknown$/i.test(name) ? null : name;
}
