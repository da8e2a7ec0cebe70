import { literalFamily } from "#shared/egress/addresses.ts";

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
export function readClient({ words, comments }: { words: readonly string[]; comments: readonly string[] }): Client {
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
  const bare = WITH_PORT.exec(unzoned)?.[1] ?? unzoned;
  const mapped = MAPPED.exec(bare)?.[1] ?? bare;
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
