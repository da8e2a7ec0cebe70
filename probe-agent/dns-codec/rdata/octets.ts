import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import type { Field } from "#probe-agent/dns-codec/rdata/field.ts";

// RFC 4648 section 7, "Extended Hex" alphabet. Used by NSEC3 owner hashes (RFC 5155 section 3.3).
const BASE32_HEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

/** Octets until the end of the RDATA in hexadecimal (upper case, as dig prints it). */
export const hexRest: Field<string> = {
  read: (reader) => toHex(reader.rest()),
  write: (writer, value) => writer.bytes(Buffer.from(value, "hex")),
  format: (value) => value,
  parse: (tokens) => parseHex(tokens.rest().join("")),
};

/** Octets until the end of the RDATA in base64. */
export const base64Rest: Field<string> = {
  read: (reader) => Buffer.from(reader.rest()).toString("base64"),
  write: (writer, value) => writer.bytes(Buffer.from(value, "base64")),
  format: (value) => value,
  parse: (tokens) => parseBase64(tokens.rest().join("")),
};

/** NSEC3's salt after a length octet. "-" if it is empty (RFC 5155 section 3.3). */
export const salt: Field<string> = {
  read: (reader) => toHex(reader.take(reader.u8())),
  write(writer, value) {
    writer.u8(value.length / 2);
    writer.bytes(Buffer.from(value, "hex"));
  },
  format: (value) => (value === "" ? "-" : value),
  parse(tokens) {
    const word = tokens.take();
    return word === "-" ? "" : bounded(parseHex(word), 510);
  },
};

/** NSEC3's next hashed owner after a length octet, in base32hex without padding. */
export const nextHash: Field<string> = {
  read: (reader) => toBase32Hex(reader.take(reader.u8())),
  write(writer, value) {
    const octets = fromBase32Hex(value);
    writer.u8(octets.length);
    writer.bytes(octets);
  },
  format: (value) => value,
  parse: (tokens) => toBase32Hex(fromBase32Hex(bounded(tokens.take(), 408))),
};

function bounded(text: string, maximum: number): string {
  if (text.length > maximum) throw new DecodeError("longer than 255 octets");
  return text;
}

/** Formats octets as upper-case hexadecimal. */
export function toHex(octets: Uint8Array): string {
  return Buffer.from(octets).toString("hex").toUpperCase();
}

/** Checks a hexadecimal word and returns it in upper case. Throws DecodeError. */
export function parseHex(text: string): string {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) throw new DecodeError("not hexadecimal");
  return text.toUpperCase();
}

function parseBase64(text: string): string {
  if (text.length % 4 !== 0 || !/^[0-9a-z+/]*={0,2}$/i.test(text)) throw new DecodeError("not base64");
  return Buffer.from(text, "base64").toString("base64");
}

function toBase32Hex(octets: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const octet of octets) {
    held = (held << 8) | octet;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32_HEX.charAt((held >>> (bits - 5)) & 31);
    held &= 31;
  }
  return bits === 0 ? text : text + BASE32_HEX.charAt((held << (5 - bits)) & 31);
}

function fromBase32Hex(text: string): Uint8Array {
  const octets: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text.toUpperCase()) {
    const digit = BASE32_HEX.indexOf(character);
    if (digit < 0) throw new DecodeError("not base32hex");
    held = ((held & 0xff) << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      octets.push((held >>> bits) & 0xff);
    }
  }
  return Uint8Array.from(octets);
}
