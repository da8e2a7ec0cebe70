import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";

/**
 * Returns words of a target without what they repeat of a monitor's secrets. Call it before they are shortened, and never
 * with words of our own: those are not a target's answer, whatever a secret contains.
 */
export type Redact = (words: string) => string;

/** The Redact of a request that sends no secret, and of words that the target did not say. */
export const unredacted: Redact = (words) => words;

const MASKED = "***";
/** Number of octets that say enough of a longer secret. */
const RUN = 8;
/** Minimum number of octets of a secret. A shorter one would mask much that only looks like it. */
const LEAST = 4;
/** Characters of base64 for as many octets, without padding. */
const RUN_IN_BASE64 = 11;
const LEAST_IN_BASE64 = 6;
/** Fields of a request that describe the client or the body. Any other field can contain a secret, whatever its name. */
const DESCRIPTIVE: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "content-type",
  "user-agent",
]);

/** Reports whether a field of a request that a user gave can contain a secret. */
export function isSecretField(name: string): boolean {
  return !DESCRIPTIVE.has(name.toLowerCase());
}

/** Returns the secrets among header fields that a user gave. */
export function secretValues(fields: readonly (readonly [name: string, value: string])[]): readonly string[] {
  return fields.flatMap(([name, value]) => (isSecretField(name) ? [value] : []));
}

/**
 * Creates a Redact: 8 or more octets in a row that a secret contains too, and all of a secret of 4 to 7, become "***". A
 * secret and the words count as they are and with their percent-encoding, JSON escapes and base64 decoded; upper and
 * lower case differ. The time is linear in the secrets and the words.
 */
export function createRedact(secrets: readonly (string | Buffer)[]): Redact {
  const octets = [...new Set(secrets)].flatMap(octetsOf).filter(({ length }) => length >= LEAST);
  if (octets.length === 0) return unredacted;
  let index: Index | null = null;
  return (words) => {
    // Most checks quote nothing.
    index ??= createIndex(octets);
    return redact(words, index);
  };
}

/** Returns the octets of a secret as they are in words: octets that are no UTF-8 are shown in Latin-1. */
function octetsOf(secret: string | Buffer): Buffer {
  if (typeof secret === "string") return Buffer.from(secret);
  return isUtf8(secret) ? secret : Buffer.from(latin1(secret));
}

interface Index {
  /** Reports whether a secret contains the RUN octets from `at` on. */
  readonly hasRun: (octets: Uint8Array, at: number) => boolean;
  /** Secrets with fewer octets, in Latin-1. */
  readonly short: ReadonlySet<string>;
}

function createIndex(secrets: readonly Buffer[]): Index {
  const short = new Set<string>();
  const long: Uint8Array[] = [];
  const add = (whole: Uint8Array): void => {
    if (whole.length >= RUN) long.push(whole);
    else if (whole.length >= LEAST) short.add(latin1(whole));
  };
  for (const secret of secrets) {
    add(secret);
    for (const decode of [decodePercent, decodeJson]) add(decode(secret)?.octets ?? secret.subarray(0, 0));
    const words = decodeBase64(secret, LEAST_IN_BASE64, [0]);
    const isOneWord = /^(?:Basic +)?[\w+/-]+=*$/i.test(latin1(secret));
    for (const { octets } of words) if (isOneWord || octets.length >= RUN) add(octets);
  }
  return { hasRun: indexRuns(long), short };
}

/** A hash table of the positions of all runs. The user of the monitor knows the secrets, but cannot choose the factors. */
function indexRuns(texts: readonly Uint8Array[]): Index["hasRun"] {
  const all = Buffer.concat(texts);
  const digest = createHash("sha256").update(all).digest();
  const [first, second] = [digest.readInt32LE(0) | 1, digest.readInt32LE(4) | 1];
  const bits = Math.max(4, Math.ceil(Math.log2(2 * all.length + 1)));
  const table = new Int32Array(2 ** bits).fill(-1);
  /** Returns the place of the run, or the free place for it. */
  const find = (octets: Uint8Array, at: number): number => {
    const [low, high] = [word(octets, at), word(octets, at + 4)];
    let place = (Math.imul(low, first) + Math.imul(high, second)) >>> (32 - bits);
    for (;;) {
      const known = table[place] ?? -1;
      if (known < 0 || (word(all, known) === low && word(all, known + 4) === high)) return place;
      place = (place + 1) & (table.length - 1);
    }
  };
  let start = 0;
  for (const { length } of texts) {
    for (let at = start; at + RUN <= start + length; at += 1) table[find(all, at)] = at;
    start += length;
  }
  return (octets, at) => (table[find(octets, at)] ?? -1) >= 0;
}

function word(octets: Uint8Array, at: number): number {
  const low = (octets[at] ?? 0) | ((octets[at + 1] ?? 0) << 8);
  return low | ((octets[at + 2] ?? 0) << 16) | ((octets[at + 3] ?? 0) << 24);
}

function redact(words: string, index: Index): string {
  const text = Buffer.from(words);
  const hidden = new Uint8Array(text.length);
  const least = index.short.size > 0 ? LEAST_IN_BASE64 : RUN_IN_BASE64;
  const forms = [null, decodePercent(text), decodeJson(text), ...decodeBase64(text, least, [0, 1, 2, 3])];
  for (const form of forms) hide(form?.octets ?? text, form, index, hidden);
  if (!hidden.includes(1)) return words;
  hideCharacters(text, hidden);
  let kept = "";
  for (let at = 0; at < text.length;) {
    const end = endOf(hidden, at);
    kept += hidden[at] === 1 ? MASKED : text.toString("utf8", at, end);
    at = end;
  }
  return kept;
}

/** Marks what a secret contains. `form` null: the octets are the text itself. */
function hide(octets: Uint8Array, form: DecodedText | null, { hasRun, short }: Index, hidden: Uint8Array): void {
  const mark = (from: number, to: number): void => {
    for (let one = from; one < to; one += 1) hidden.fill(1, form?.starts[one] ?? one, form?.ends[one] ?? one + 1);
  };
  let marked = 0;
  for (let at = 0; at + LEAST <= octets.length; at += 1) {
    if (at + RUN <= octets.length && hasRun(octets, at)) {
      mark(Math.max(at, marked), at + RUN);
      marked = at + RUN;
    }
    if (short.size === 0) continue;
    for (let length = LEAST; length < RUN && at + length <= octets.length; length += 1) {
      if (short.has(latin1(octets.subarray(at, at + length)))) mark(at, at + length);
    }
  }
}

/** Marks the rest of a character of which an octet is marked. */
function hideCharacters(text: Uint8Array, hidden: Uint8Array): void {
  const continues = (at: number): boolean => ((text[at] ?? 0) & 0xc0) === 0x80;
  for (let at = 1; at < text.length; at += 1) if (hidden[at - 1] === 1 && continues(at)) hidden[at] = 1;
  for (let at = text.length - 1; at > 0; at -= 1) if (hidden[at] === 1 && continues(at)) hidden[at - 1] = 1;
}

/** Returns the index after the octets from `at` on that are all hidden, or all shown. */
function endOf(hidden: Uint8Array, at: number): number {
  const end = hidden.indexOf(hidden[at] === 1 ? 0 : 1, at);
  return end === -1 ? hidden.length : end;
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString("latin1");
}

/** Octets that a text contains in an encoding, each with the part of the text that it is written by. */
interface DecodedText {
  readonly octets: Uint8Array;
  /** Index after which, in octets of the text, each decoded octet begins. */
  readonly starts: Uint32Array;
  /** Index before which each ends. */
  readonly ends: Uint32Array;
}

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
/** What the letter of a JSON escape means (RFC 8259 section 7). */
const JSON_ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
);

/** Returns a text without its percent-encoding (RFC 3986 section 2.1); null if it has none. */
function decodePercent(text: Uint8Array): DecodedText | null {
  if (!text.includes(PERCENT)) return null;
  const decoded = startDecoding(text.length);
  for (let at = 0; at < text.length;) {
    const value = text[at] === PERCENT ? readHex(text, at + 1, 2) : null;
    const end = at + (value === null ? 1 : 3);
    decoded.add(value ?? text[at] ?? 0, at, end);
    at = end;
  }
  return decoded.done();
}

/** Returns a text without the escapes of JSON strings; null if it has none. A wrong escape stays as it is. */
function decodeJson(text: Uint8Array): DecodedText | null {
  if (!text.includes(BACKSLASH)) return null;
  const decoded = startDecoding(text.length);
  for (let at = 0; at < text.length;) {
    const { octets, end } = readEscape(text, at);
    for (const octet of octets) decoded.add(octet, at, end);
    at = end;
  }
  return decoded.done();
}

function readEscape(text: Uint8Array, at: number): { readonly octets: Iterable<number>; readonly end: number } {
  const asIs = { octets: text.subarray(at, at + 1), end: at + 1 };
  if (text[at] !== BACKSLASH) return asIs;
  const meant = JSON_ESCAPES.get(text[at + 1] ?? 0);
  if (meant !== undefined) return { octets: [meant], end: at + 2 };
  const unit = readUnit(text, at);
  if (unit === null) return asIs;
  // The second half of a pair follows in an escape of its own.
  const low = unit >= 0xd800 && unit <= 0xdbff ? readUnit(text, at + 6) : null;
  const isPair = low !== null && low >= 0xdc00 && low <= 0xdfff;
  const character = isPair ? String.fromCharCode(unit, low) : String.fromCharCode(unit);
  return { octets: Buffer.from(character), end: at + (isPair ? 12 : 6) };
}

function readUnit(text: Uint8Array, at: number): number | null {
  return text[at] === BACKSLASH && text[at + 1] === SMALL_U ? readHex(text, at + 2, 4) : null;
}

function readHex(text: Uint8Array, at: number, digits: number): number | null {
  let value = 0;
  for (let one = at; one < at + digits; one += 1) {
    const digit = HEX[text[one] ?? 0] ?? -1;
    if (digit < 0) return null;
    value = value * 16 + digit;
  }
  return value;
}

/**
 * Decodes each word of a text that can be base64 or base64url and has `least` characters or more. `shifts`: the character
 * of a word at which decoding begins, because others can stand before it.
 */
function decodeBase64(text: Uint8Array, least: number, shifts: readonly number[]): readonly DecodedText[] {
  const found: DecodedText[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    while (at < text.length && (SEXTETS[text[at] ?? 0] ?? -1) >= 0) at += 1;
    if (at - start < least) continue;
    for (const shift of shifts) found.push(decodeWord(text, start + shift, at));
  }
  return found;
}

function decodeWord(text: Uint8Array, from: number, to: number): DecodedText {
  const decoded = startDecoding(to - from);
  let bits = 0;
  let value = 0;
  for (let at = from; at < to; at += 1) {
    value = ((value << 6) | (SEXTETS[text[at] ?? 0] ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    // An octet begins in the character before this one.
    decoded.add((value >> bits) & 0xff, at - 1, at + 1);
  }
  return decoded.done();
}

/** Values of characters; -1: the character has none. */
const HEX = tableOf("0123456789abcdef", "0123456789ABCDEF");
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const SEXTETS = tableOf(`${LETTERS}+/`, `${LETTERS}-_`);

function tableOf(...alphabets: readonly string[]): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (const alphabet of alphabets) {
    for (let value = 0; value < alphabet.length; value += 1) table[alphabet.charCodeAt(value)] = value;
  }
  return table;
}

interface Decoding {
  add(octet: number, start: number, end: number): void;
  done(): DecodedText;
}

/** `most`: the octets of the text, of which there are never fewer than decoded ones. */
function startDecoding(most: number): Decoding {
  const octets = new Uint8Array(most);
  const starts = new Uint32Array(most);
  const ends = new Uint32Array(most);
  let count = 0;
  return {
    add(octet, start, end) {
      octets[count] = octet;
      starts[count] = start;
      ends[count] = end;
      count += 1;
    },
    done: () => ({
      octets: octets.subarray(0, count),
      starts: starts.subarray(0, count),
      ends: ends.subarray(0, count),
    }),
  };
}
