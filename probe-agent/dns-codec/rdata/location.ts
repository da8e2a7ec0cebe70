import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import type { Field } from "#probe-agent/dns-codec/rdata/field.ts";
import type { Tokens } from "#probe-agent/dns-codec/rdata/tokens.ts";

// RFC 1876 section 2: angles in thousandths of an arc second from 2^31, altitude in centimetres from 100 km below the
// WGS 84 spheroid.
const EQUATOR = 2 ** 31;
const BASE_CM = 10_000_000;
const PER_DEGREE = 3_600_000;

/** Latitude (north positive) or longitude (east positive) in decimal degrees. */
function angle(positive: string, negative: string, limit: number): Field<number> {
  return {
    read(reader) {
      const value = (reader.u32() - EQUATOR) / PER_DEGREE;
      if (Math.abs(value) > limit) throw new DecodeError("angle out of range");
      return value;
    },
    write: (writer, value) => writer.u32(EQUATOR + Math.round(value * PER_DEGREE)),
    format(value) {
      const thousandths = Math.round(Math.abs(value) * PER_DEGREE);
      const seconds = ((thousandths % 60_000) / 1000).toFixed(3);
      const minutes = Math.floor(thousandths / 60_000) % 60;
      return `${Math.floor(thousandths / PER_DEGREE)} ${minutes} ${seconds} ${value < 0 ? negative : positive}`;
    },
    parse(tokens) {
      const parts: number[] = [];
      let word = tokens.take();
      for (; word !== positive && word !== negative; word = tokens.take()) parts.push(decimal(word));
      const [degrees = 0, minutes = 0, seconds = 0] = parts;
      const value = degrees + minutes / 60 + seconds / 3600;
      if (value > limit || parts.length > 3 || parts.some((part) => part < 0)) {
        throw new DecodeError("angle out of range");
      }
      return word === negative ? -value : value;
    },
  };
}

/** Latitude in decimal degrees, north positive. */
export const latitude = angle("N", "S", 90);
/** Longitude in decimal degrees, east positive. */
export const longitude = angle("E", "W", 180);

/** Altitude in metres. */
export const altitude: Field<number> = {
  read: (reader) => (reader.u32() - BASE_CM) / 100,
  write: (writer, value) => writer.u32(Math.round(value * 100) + BASE_CM),
  format: (value) => `${value.toFixed(2)}m`,
  parse: (tokens) => metres(tokens.take()),
};

/**
 * A size or precision in metres. On the wire, it is one octet of mantissa and power of ten, in centimetres. Optional in
 * text.
 */
export function extent(defaultMetres: number): Field<number> {
  return {
    read(reader) {
      const octet = reader.u8();
      if (octet >>> 4 > 9 || (octet & 15) > 9) throw new DecodeError("extent out of range");
      return ((octet >>> 4) * 10 ** (octet & 15)) / 100;
    },
    write(writer, value) {
      const centimetres = Math.round(value * 100);
      const power = Math.max(0, String(centimetres).length - 1);
      writer.u8((Math.floor(centimetres / 10 ** power) << 4) | power);
    },
    format: (value) => `${value.toFixed(2)}m`,
    parse: (tokens) => (tokens.left === 0 ? defaultMetres : metres(tokens.take())),
  };
}

/** The version octet, which the text leaves out. Only 0 is defined. */
export const version: Field<number> = {
  read(reader) {
    const value = reader.u8();
    if (value !== 0) throw new DecodeError("unknown LOC version");
    return value;
  },
  write: (writer, value) => writer.u8(value),
  format: () => "",
  parse: (_tokens: Tokens) => 0,
};

function metres(word: string): number {
  return decimal(word.replace(/m$/, ""));
}

function decimal(word: string): number {
  if (!/^-?\d{1,8}(?:\.\d{1,3})?$/.test(word)) throw new DecodeError("not a decimal number");
  return Number(word);
}
