import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "#probe-agent/dns-codec/address.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { latin1, parseInteger, type Field } from "#probe-agent/dns-codec/rdata/field.ts";
import { RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { escapeWord, unescapeWord } from "#probe-agent/dns-codec/rdata/tokens.ts";
import type { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

/**
 * Value of a parameter: a list, a port, true for a parameter without a value, base64 (ech), or octets as latin1 text.
 */
type SvcValue = readonly string[] | string | number | true;
/** Parameters of SVCB and HTTPS by key name, in wire order. */
type SvcParams = Readonly<Record<string, SvcValue>>;

interface Kind<V> {
  read(reader: RdataReader): V;
  write(writer: ByteWriter, value: V): void;
  format(value: V): string;
  parse(word: string): V;
}

// Key names from RFC 9460 section 14.3.2 and RFC 9461 (dohpath).
const KEYS = ["mandatory", "alpn", "no-default-alpn", "port", "ipv4hint", "ech", "ipv6hint", "dohpath"] as const;

function listOf(readOne: (reader: RdataReader) => string, writeOne: (w: ByteWriter, value: string) => void) {
  return {
    read(reader: RdataReader): readonly string[] {
      const values = [readOne(reader)];
      while (reader.left > 0) values.push(readOne(reader));
      return values;
    },
    write: (writer: ByteWriter, values: readonly string[]) => values.forEach((value) => writeOne(writer, value)),
    format: (values: readonly string[]) => values.join(","),
    parse: (word: string): readonly string[] => word.split(","),
  };
}

const text: Kind<string> = {
  read: (reader) => latin1(reader.rest()),
  write: (writer, value) => writer.bytes(Buffer.from(value, "latin1")),
  format: (value) => `"${escapeWord(value)}"`,
  parse: (word) => latin1(unescapeWord(word)),
};

const alpn: Kind<readonly string[]> = {
  ...listOf(
    (reader) => {
      const id = latin1(reader.take(reader.u8()));
      if (id === "") throw new DecodeError("empty ALPN id");
      return id;
    },
    (writer, id) => {
      writer.u8(id.length);
      writer.bytes(Buffer.from(id, "latin1"));
    },
  ),
  // A comma or backslash inside an item is escaped once as a list item and again as text (RFC 9460 appendix A.1).
  format: (ids) => `"${escapeWord(ids.map((id) => id.replaceAll(/[\\,]/g, "\\$&")).join(","))}"`,
  parse: (word) =>
    [...latin1(unescapeWord(word)).matchAll(/(?:\\[\s\S]|[^\\,])+/g)].map(([id]) => id.replaceAll(/\\([\s\S])/g, "$1")),
};

const KINDS: Readonly<Record<string, Kind<SvcValue>>> = {
  mandatory: {
    ...listOf(
      (reader) => keyName(reader.u16()),
      (writer, key) => writer.u16(keyCode(key)),
    ),
    // Ascending order on the wire, any order in text (RFC 9460 section 8).
    parse: (word) => word.split(",").toSorted((one, other) => keyCode(one) - keyCode(other)),
  },
  alpn,
  "no-default-alpn": { read: () => true, write: () => {}, format: () => "", parse: () => true } satisfies Kind<true>,
  port: {
    read: (reader) => reader.u16(),
    write: (writer, value) => writer.u16(value),
    format: String,
    parse: (word) => parseInteger(word, 0xffff),
  } satisfies Kind<number>,
  ipv4hint: listOf(
    (reader) => formatIpv4(reader.take(4)),
    (writer, ip) => writer.bytes(parseIpv4(ip)),
  ),
  ech: {
    read: (reader) => Buffer.from(reader.rest()).toString("base64"),
    write: (writer, value) => writer.bytes(Buffer.from(value, "base64")),
    format: (value) => value,
    parse: (word) => word,
  } satisfies Kind<string>,
  ipv6hint: listOf(
    (reader) => formatIpv6(reader.take(16)),
    (writer, ip) => writer.bytes(parseIpv6(ip)),
  ),
  dohpath: text,
};

function kindOf(key: string): Kind<SvcValue> {
  return KINDS[key] ?? text;
}

function keyName(code: number): string {
  return KEYS[code] ?? `key${code}`;
}

function keyCode(name: string): number {
  const known = (KEYS as readonly string[]).indexOf(name);
  if (known >= 0) return known;
  if (!name.startsWith("key")) throw new DecodeError("unknown service parameter");
  return parseInteger(name.slice(3), 0xffff);
}

/**
 * The service parameters of SVCB and HTTPS (RFC 9460 section 2): keys in strictly ascending order, values of known
 * form.
 */
export const svcParams: Field<SvcParams> = {
  read(reader) {
    const entries: [string, SvcValue][] = [];
    let previous = -1;
    while (reader.left > 0) {
      const code = reader.u16();
      if (code <= previous) throw new DecodeError("service parameters are not in order");
      previous = code;
      const octets = reader.take(reader.u16());
      const inner = new RdataReader(octets, 0, octets.length);
      entries.push([keyName(code), kindOf(keyName(code)).read(inner)]);
      if (inner.left > 0) throw new DecodeError("service parameter is longer than its value");
    }
    return Object.fromEntries(entries);
  },
  write(writer, params) {
    const entries = Object.entries(params).map(([key, value]) => ({ code: keyCode(key), key, value }));
    for (const { code, key, value } of entries.toSorted((one, other) => one.code - other.code)) {
      writer.u16(code);
      writer.sized16(() => kindOf(key).write(writer, value));
    }
  },
  format: (params) =>
    Object.entries(params)
      .map(([key, value]) => (value === true || value === "" ? key : `${key}=${kindOf(key).format(value)}`))
      .join(" "),
  parse: (tokens) =>
    Object.fromEntries(
      tokens.rest().map((word) => {
        const [, key = "", value = ""] = /^([^=]*)=?([\s\S]*)$/.exec(word) ?? [];
        return [keyName(keyCode(key)), kindOf(keyName(keyCode(key))).parse(value)];
      }),
    ),
};
