import { isSameOctets } from "#shared/text/same-octets.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";

// Sizes on the wire, including the root's zero octet (RFC 1035 section 2.3.4).
const MAX_NAME_OCTETS = 255;
const MAX_LABEL_OCTETS = 63;
// A name has at most 127 labels, so no honest name needs more pointers.
const MAX_POINTERS = 127;
const HEADER_OCTETS = 12;

// Characters with a special meaning in master files (RFC 1035 section 5.1). They are escaped as BIND does.
const ESCAPED = new Set(Buffer.from('."$();@\\'));

/** A name as uncompressed wire octets, including the root's zero octet at the end. Letter case is kept. */
export type NameOctets = Uint8Array;

/** The root, ".". */
const ROOT: NameOctets = Uint8Array.of(0);

/**
 * Reads a name that starts at `start` and can be compressed (RFC 1035 section 4.1.4). `next` is the offset after it.
 * Pointers must lead strictly backwards and past the header; this alone ends every loop. Throws DecodeError.
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

/** Formats a name without the final dot, "." for the root. Escapes octets as \X or \DDD where needed. */
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

/** Formats one octet: itself, \X if it is in `special`, \DDD if it is a space or not printable ASCII. */
export function escapeOctet(octet: number, special: ReadonlySet<number>): string {
  if (octet < 0x21 || octet > 0x7e) return `\\${String(octet).padStart(3, "0")}`;
  const character = String.fromCharCode(octet);
  return special.has(octet) ? `\\${character}` : character;
}

/**
 * Parses presentation form, with or without the final dot. Returns null if the text is not a name (empty label, too
 * long, not ASCII).
 */
export function textToName(text: string): NameOctets | null {
  if (text === ".") return ROOT;
  // An escaped octet takes up to four characters. This bounds the loop for any input.
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

/**
 * Reads the octet at `position` (plain, \X or \DDD) and returns the position of the next one. Null if it is not ASCII.
 */
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

/** Returns a copy with ASCII letters in lower case (RFC 4343; canonical form of RFC 4034 section 6.2). */
export function lowerName(name: NameOctets): NameOctets {
  // Length octets are at most 63, so they are never mistaken for a letter.
  return name.map((octet) => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet));
}

/** Reports whether two names are identical, octet by octet. */
export function identicalNames(one: NameOctets, other: NameOctets): boolean {
  return isSameOctets(one, other);
}

/** Reports whether two names are equal if the case of ASCII letters is ignored. */
export function equalNames(one: NameOctets, other: NameOctets): boolean {
  return identicalNames(lowerName(one), lowerName(other));
}
