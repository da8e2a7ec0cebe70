import { isSameOctets } from "#shared/same-octets.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";

// RFC 1035 section 2.3.4: sizes on the wire, the root's zero octet included.
const MAX_NAME_OCTETS = 255;
const MAX_LABEL_OCTETS = 63;
// A name has at most 127 labels, so no honest one needs more pointers than that.
const MAX_POINTERS = 127;
const HEADER_OCTETS = 12;

// Characters with a meaning of their own in master files (RFC 1035 section 5.1); escaped as BIND does.
const ESCAPED = new Set(Buffer.from('."$();@\\'));

/** A name as uncompressed wire octets, ending in the root's zero octet. Case is kept. */
export type NameOctets = Uint8Array;

/** The root, ".". */
const ROOT: NameOctets = Uint8Array.of(0);

/**
 * Reads a possibly compressed name (RFC 1035 section 4.1.4) that starts at `start`; `next` is the offset after it.
 * Pointers must lead strictly backwards, past the header: that alone ends every loop. Throws DecodeError.
 */
export function readName(message: Uint8Array, start: number): { readonly name: NameOctets; readonly next: number } {
  const octets = new Uint8Array(MAX_NAME_OCTETS);
  let used = 0;
  let position = start;
  let segment = start;
  let next = -1;
  let pointers = 0;
  for (;;) {
    const length = message[position];
    if (length === undefined) throw new DecodeError("name runs past the end of the message");
    if ((length & 0xc0) === 0xc0) {
      const low = message[position + 1];
      if (low === undefined) throw new DecodeError("compression pointer runs past the end of the message");
      const target = ((length & 0x3f) << 8) | low;
      pointers += 1;
      if (target >= segment || target < HEADER_OCTETS || pointers > MAX_POINTERS) {
        throw new DecodeError("compression pointer does not lead to an earlier name");
      }
      if (next < 0) next = position + 2;
      segment = target;
      position = target;
      continue;
    }
    if (length > MAX_LABEL_OCTETS) throw new DecodeError("reserved label type");
    const size = length + 1;
    if (position + size > message.length) throw new DecodeError("label runs past the end of the message");
    if (used + size > MAX_NAME_OCTETS) throw new DecodeError("name is longer than 255 octets");
    octets.set(message.subarray(position, position + size), used);
    used += size;
    position += size;
    if (length === 0) return { name: octets.slice(0, used), next: next < 0 ? position : next };
  }
}

/** Presentation form without final dot, "." for the root; octets that need it are escaped as \X or \DDD. */
export function nameToText(name: NameOctets): string {
  let text = "";
  let position = 0;
  for (;;) {
    const length = name[position] ?? 0;
    if (length === 0) return text === "" ? "." : text;
    if (text !== "") text += ".";
    for (const octet of name.subarray(position + 1, position + 1 + length)) text += escapeOctet(octet, ESCAPED);
    position += length + 1;
  }
}

/** One octet in presentation form: itself, \X where `special`, \DDD where not printable (or a space) in ASCII. */
export function escapeOctet(octet: number, special: ReadonlySet<number>): string {
  if (octet < 0x21 || octet > 0x7e) return `\\${String(octet).padStart(3, "0")}`;
  const character = String.fromCharCode(octet);
  return special.has(octet) ? `\\${character}` : character;
}

/** Reads presentation form, with or without final dot. Null where it is no name (empty label, too long, not ASCII). */
export function textToName(text: string): NameOctets | null {
  if (text === ".") return ROOT;
  // Four characters for an escaped octet at most; keeps the loop short for any input.
  if (text === "" || text.length > 4 * MAX_NAME_OCTETS) return null;
  const octets: number[] = [];
  let label: number[] = [];
  for (let position = 0; position < text.length;) {
    if (text[position] === ".") {
      if (label.length === 0 || label.length > MAX_LABEL_OCTETS) return null;
      octets.push(label.length, ...label);
      label = [];
      position += 1;
      continue;
    }
    const read = unescapeAt(text, position);
    if (read === null || (read.next === position + 1 && (read.octet < 0x21 || read.octet > 0x7e))) return null;
    label.push(read.octet);
    position = read.next;
  }
  if (label.length > MAX_LABEL_OCTETS) return null;
  if (label.length > 0) octets.push(label.length, ...label);
  octets.push(0);
  return octets.length > MAX_NAME_OCTETS ? null : Uint8Array.from(octets);
}

/** The octet written at `position` (plain, \X or \DDD) and where the next one starts; null where it is not ASCII. */
export function unescapeAt(text: string, position: number): { readonly octet: number; readonly next: number } | null {
  const code = text.charCodeAt(position);
  if (Number.isNaN(code) || code > 0xff) return null;
  if (code !== 0x5c) return { octet: code, next: position + 1 };
  const digits = /^\d{3}/.exec(text.slice(position + 1, position + 4));
  if (digits !== null) {
    const octet = Number(digits[0]);
    return octet > 0xff ? null : { octet, next: position + 4 };
  }
  const escaped = text.charCodeAt(position + 1);
  return Number.isNaN(escaped) || escaped > 0x7e ? null : { octet: escaped, next: position + 2 };
}

/** A copy in lower case, ASCII letters only (RFC 4343; canonical form of RFC 4034 section 6.2). */
export function lowerName(name: NameOctets): NameOctets {
  // Length octets are at most 63 and so never mistaken for a letter.
  return name.map((octet) => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet));
}

/** Whether two names are the same, octet by octet. */
export function identicalNames(one: NameOctets, other: NameOctets): boolean {
  return isSameOctets(one, other);
}

/** Whether two names are the same but for the case of ASCII letters. */
export function equalNames(one: NameOctets, other: NameOctets): boolean {
  return identicalNames(lowerName(one), lowerName(other));
}
