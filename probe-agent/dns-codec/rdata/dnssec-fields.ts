import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseInteger, type Field } from "#probe-agent/dns-codec/rdata/field.ts";
import type { RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { typeCode, typeName } from "#shared/internet/dns-registry.ts";
import type { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

/** A type as its mnemonic (RRSIG's type covered). */
export const typeMnemonic: Field<string> = {
  read: (reader) => typeName(reader.u16()),
  write: (writer, value) => writer.u16(codeOf(value)),
  format: (value) => value,
  parse: (tokens) => typeName(codeOf(tokens.take())),
};

function codeOf(mnemonic: string): number {
  const code = typeCode(mnemonic);
  if (code === null) throw new DecodeError("unknown type mnemonic");
  return code;
}

/** A time of RRSIG. The value is seconds since 1970 modulo 2^32, the text is YYYYMMDDHHmmSS (RFC 4034 section 3.2). */
export const timestamp: Field<number> = {
  read: (reader) => reader.u32(),
  write: (writer, value) => writer.u32(value),
  format: (value) => new Date(value * 1000).toISOString().replaceAll(/[^\d]/g, "").slice(0, 14),
  parse(tokens) {
    const word = tokens.take();
    const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(word);
    if (parts === null) return parseInteger(word, 0xffff_ffff);
    const [, year, month, day, hour, minute, second] = parts;
    const milliseconds = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    if (Number.isNaN(milliseconds) || milliseconds < 0) throw new DecodeError("not a time");
    return (milliseconds / 1000) % 2 ** 32;
  },
};

/** The type bit maps of NSEC, NSEC3 and CSYNC as mnemonics (RFC 4034 section 4.1.2). */
export const typeBitmap: Field<readonly string[]> = {
  read: readBitmap,
  write: writeBitmap,
  format: (value) => value.join(" "),
  parse: (tokens) => tokens.rest().map((word) => typeName(codeOf(word))),
};

function readBitmap(reader: RdataReader): string[] {
  const types: string[] = [];
  let previous = -1;
  while (reader.left > 0) {
    const window = reader.u8();
    const octets = reader.take(reader.u8());
    if (window <= previous || octets.length === 0 || octets.length > 32) throw new DecodeError("bad type bit map");
    previous = window;
    for (const [index, octet] of octets.entries()) {
      for (let bit = 0; bit < 8; bit += 1) {
        if ((octet & (0x80 >>> bit)) !== 0) types.push(typeName(window * 256 + index * 8 + bit));
      }
    }
  }
  return types;
}

function writeBitmap(writer: ByteWriter, types: readonly string[]): void {
  const codes = [...new Set(types.map(codeOf))].toSorted((one, other) => one - other);
  for (const window of new Set(codes.map((code) => code >>> 8))) {
    const low = codes.filter((code) => code >>> 8 === window).map((code) => code & 0xff);
    const octets = new Uint8Array(((low.at(-1) ?? 0) >>> 3) + 1);
    for (const code of low) octets[code >>> 3] = (octets[code >>> 3] ?? 0) | (0x80 >>> (code & 7));
    writer.u8(window);
    writer.u8(octets.length);
    writer.bytes(octets);
  }
}

/**
 * Computes the key tag of a DNSKEY's RDATA (RFC 4034 appendix B). Algorithm 1, which has its own formula, is no longer
 * in use.
 */
export function keyTag(rdata: Uint8Array): number {
  let sum = 0;
  for (const [index, octet] of rdata.entries()) sum += (index & 1) === 0 ? octet << 8 : octet;
  return (sum + (sum >>> 16)) & 0xffff;
}
