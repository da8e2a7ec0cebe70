/** Thrown by parsers for octets that are not the expected DER. Functions that return null instead catch it. */
export class MalformedDer extends Error {}

/** Returns what `read` returns, or `otherwise` if it throws MalformedDer. */
export function readable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedDer) return otherwise;
    throw error;
  }
}

/** One DER value (X.690): identifier octet, contents, and the whole encoding. Octet fields are views, not copies. */
export interface Der {
  readonly tag: number;
  readonly contents: Uint8Array;
  readonly whole: Uint8Array;
}

/** Identifier octets of the universal types used in certificates. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Maximum number of values in one SEQUENCE: enough for large SAN lists, and a limit for hostile input. */
const MAX_CHILDREN = 50_000;

/** Parses octets that contain exactly one value, with this tag if one is given. Throws MalformedDer. */
export function readDer(bytes: Uint8Array, tag?: number): Der {
  const value = readAt(bytes, 0);
  if (value.whole.length !== bytes.length) throw new MalformedDer("trailing octets");
  return expectTag(value, tag);
}

/** Parses the values inside a constructed value, in order. Throws MalformedDer. */
export function childrenOf(contents: Uint8Array): Der[] {
  const children: Der[] = [];
  for (let at = 0; at < contents.length;) {
    const child = readAt(contents, at);
    children.push(child);
    if (children.length > MAX_CHILDREN) throw new MalformedDer("too many values");
    at += child.whole.length;
  }
  return children;
}

/** Parses the values of a SEQUENCE. Throws MalformedDer. */
export function sequenceOf(bytes: Uint8Array): Der[] {
  return childrenOf(readDer(bytes, TAG.sequence).contents);
}

/** Returns the value. Throws MalformedDer if it is undefined or does not have the tag. */
export function expectTag(value: Der | undefined, tag?: number): Der {
  if (value === undefined || (tag !== undefined && value.tag !== tag)) throw new MalformedDer("unexpected type");
  return value;
}

/** Returns the dotted text of an OBJECT IDENTIFIER's contents. Throws MalformedDer. */
export function oidText(contents: Uint8Array): string {
  if (contents.length === 0 || contents.length > 64) throw new MalformedDer("object identifier");
  if (((contents.at(-1) ?? 0) & 0x80) !== 0) throw new MalformedDer("object identifier");
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const [index, octet] of contents.entries()) {
    // An arc has no leading zeros (X.690 section 8.19.2).
    const begins = index === 0 || ((contents[index - 1] ?? 0) & 0x80) === 0;
    if (begins && octet === 0x80) throw new MalformedDer("object identifier");
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    if ((octet & 0x80) === 0) {
      arcs.push(arc);
      arc = 0n;
    }
  }
  const [first = 0n, ...rest] = arcs;
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...rest].join(".");
}

/** Returns the value of a non-negative INTEGER or ENUMERATED of at most five octets. Throws MalformedDer. */
export function smallInteger(value: Der | undefined, tag: number = TAG.integer): number {
  const { contents } = expectTag(value, tag);
  if (contents.length === 0 || contents.length > 5 || ((contents[0] ?? 0) & 0x80) !== 0)
    throw new MalformedDer("integer");
  // An INTEGER has as few octets as possible (X.690 section 8.3.2).
  if (contents.length > 1 && contents[0] === 0 && (contents[1] ?? 0) < 0x80) throw new MalformedDer("integer");
  return contents.reduce((number, octet) => number * 256 + octet, 0);
}

/** Returns the octets of a BIT STRING, including unused bits of the last octet. Throws MalformedDer. */
export function bitString(value: Der | undefined): Uint8Array {
  const { contents } = expectTag(value, TAG.bitString);
  if (contents.length === 0 || (contents[0] ?? 0) > 7) throw new MalformedDer("bit string");
  return contents.subarray(1);
}

/** Returns the octets of a BIT STRING without unused bits, such as a signature. Throws MalformedDer. */
export function wholeOctets(value: Der | undefined): Uint8Array {
  if (value?.contents[0] !== 0) throw new MalformedDer("bit string");
  return bitString(value);
}

/** Parses a UTCTime or GeneralizedTime in the forms that RFC 5280 section 4.1.2.5 allows. Throws MalformedDer. */
export function timeOf(value: Der | undefined): Date {
  const { tag, contents } = expectTag(value);
  const text = Buffer.from(contents).toString("latin1");
  const form =
    tag === TAG.utcTime
      ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/
      : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;
  const found = tag === TAG.utcTime || tag === TAG.generalizedTime ? form.exec(text) : null;
  if (!found) throw new MalformedDer("time");
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = found.slice(1).map(Number);
  const century = tag === TAG.generalizedTime ? 0 : year >= 50 ? 1900 : 2000;
  const date = new Date(0);
  date.setUTCFullYear(century + year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) {
    throw new MalformedDer("time");
  }
  return date;
}

function readAt(bytes: Uint8Array, start: number): Der {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new MalformedDer("identifier");
  let at = start + 2;
  let length = first;
  if (first >= 0x80) {
    const octets = first & 0x7f;
    if (octets === 0 || octets > 4) throw new MalformedDer("length");
    length = 0;
    for (let index = 0; index < octets; index += 1) length = length * 256 + (bytes[at + index] ?? 0);
    if (bytes[at] === 0 || length < 0x80) throw new MalformedDer("length not minimal");
    at += octets;
  }
  const end = at + length;
  if (end > bytes.length) throw new MalformedDer("length past the end");
  return { tag, contents: bytes.subarray(at, end), whole: bytes.subarray(start, end) };
}
