/** Octets that a text contains in an encoding, each with the part of the text that it is written by. */
export interface DecodedText {
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
export function decodePercent(text: Uint8Array): DecodedText | null {
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
export function decodeJson(text: Uint8Array): DecodedText | null {
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
export function decodeBase64(text: Uint8Array, least: number, shifts: readonly number[]): readonly DecodedText[] {
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
