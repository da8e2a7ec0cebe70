import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { nameToText, textToName } from "#probe-agent/dns-codec/names.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "#probe-agent/dns-codec/address.ts";
import type { RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { escapeWord, quoteWord, unescapeWord, type Tokens } from "#probe-agent/dns-codec/rdata/tokens.ts";
import type { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

/**
 * A field of a record's RDATA, convertible between octets, value and presentation form. Values are plain JSON. Octets
 * are text with one character each (latin1), hexadecimal or base64. `read` and `parse` throw DecodeError.
 */
export interface Field<V> {
  read(reader: RdataReader): V;
  write(writer: ByteWriter, value: V): void;
  format(value: V): string;
  parse(tokens: Tokens): V;
}

function integer(bits: 8 | 16 | 32): Field<number> {
  const key = bits === 8 ? "u8" : bits === 16 ? "u16" : "u32";
  return {
    read: (reader) => reader[key](),
    write: (writer, value) => writer[key](value),
    format: String,
    parse: (tokens) => parseInteger(tokens.take(), 2 ** bits - 1),
  };
}

/** Parses a decimal integer from 0 to `maximum`. Throws DecodeError. */
export function parseInteger(word: string, maximum: number): number {
  const value = /^\d{1,10}$/.test(word) ? Number(word) : Number.NaN;
  if (!(value <= maximum)) throw new DecodeError(`${word.slice(0, 20)} is not an integer from 0 to ${maximum}`);
  return value;
}

/** One octet as a number. */
export const u8 = integer(8);
/** Two octets as a number. */
export const u16 = integer(16);
/** Four octets as a number. */
export const u32 = integer(32);

/** A domain name. The value has no final dot. The presentation form has one, so it is absolute in any zone file. */
export const domainName: Field<string> = {
  read: (reader) => nameToText(reader.name()),
  write(writer, value) {
    const name = textToName(value);
    if (name === null) throw new DecodeError("not a domain name");
    writer.bytes(name);
  },
  format: (value) => (value === "." ? "." : `${value}.`),
  parse(tokens) {
    const name = textToName(tokens.take());
    if (name === null) throw new DecodeError("not a domain name");
    return nameToText(name);
  },
};

/** An IPv4 address as a dotted quad. */
export const ipv4: Field<string> = {
  read: (reader) => formatIpv4(reader.take(4)),
  write: (writer, value) => writer.bytes(parseIpv4(value)),
  format: (value) => value,
  parse: (tokens) => formatIpv4(parseIpv4(tokens.take())),
};

/** An IPv6 address in RFC 5952 form. */
export const ipv6: Field<string> = {
  read: (reader) => formatIpv6(reader.take(16)),
  write: (writer, value) => writer.bytes(parseIpv6(value)),
  format: (value) => value,
  parse: (tokens) => formatIpv6(parseIpv6(tokens.take())),
};

/** A character-string of RFC 1035 section 3.3, up to 255 octets. */
export const characterString: Field<string> = {
  read: (reader) => latin1(reader.take(reader.u8())),
  write(writer, value) {
    if (value.length > 0xff) throw new DecodeError("character-string is longer than 255 octets");
    writer.u8(value.length);
    writer.bytes(Buffer.from(value, "latin1"));
  },
  format: quoteWord,
  parse: (tokens) => latin1(unescapeWord(tokens.take())),
};

/** One or more character-strings until the end of the RDATA. */
export const characterStrings: Field<readonly string[]> = {
  read(reader) {
    const strings = [characterString.read(reader)];
    while (reader.left > 0) strings.push(characterString.read(reader));
    return strings;
  },
  write: (writer, value) => value.forEach((text) => characterString.write(writer, text)),
  format: (value) => value.map(quoteWord).join(" "),
  parse(tokens) {
    const strings = [characterString.parse(tokens)];
    while (tokens.left > 0) strings.push(characterString.parse(tokens));
    return strings;
  },
};

/** Text without a length octet until the end of the RDATA, quoted: CAA's value (RFC 8659), URI's target (RFC 7553). */
export const quotedRest: Field<string> = {
  read: (reader) => latin1(reader.rest()),
  write: (writer, value) => writer.bytes(Buffer.from(value, "latin1")),
  format: quoteWord,
  parse: (tokens) => latin1(unescapeWord(tokens.take())),
};

/** CAA's property tag: a length octet, then letters or digits, unquoted (RFC 8659 section 4.1). */
export const tag: Field<string> = {
  ...characterString,
  format: (value) => (/^[0-9a-z]+$/i.test(value) ? value : `"${escapeWord(value)}"`),
};

/** Converts octets to text with one character each. */
export function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("latin1");
}
