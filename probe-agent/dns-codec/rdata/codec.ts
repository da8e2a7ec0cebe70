import * as dnssec from "#probe-agent/dns-codec/rdata/dnssec-fields.ts";
import * as field from "#probe-agent/dns-codec/rdata/field.ts";
import * as location from "#probe-agent/dns-codec/rdata/location.ts";
import * as octets from "#probe-agent/dns-codec/rdata/octets.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseInteger } from "#probe-agent/dns-codec/rdata/field.ts";
import { parseHex, toHex } from "#probe-agent/dns-codec/rdata/octets.ts";
import { RdataNameError, RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { Tokens } from "#probe-agent/dns-codec/rdata/tokens.ts";
import { ByteWriter } from "#probe-agent/dns-codec/writer.ts";
import { svcParams } from "#probe-agent/dns-codec/rdata/svc-params.ts";

/** Parsed RDATA: presentation form, octets with expanded names, and fields by RFC name. */
interface Rdata {
  readonly data: string;
  readonly raw: Uint8Array;
  readonly typed: Readonly<Record<string, unknown>>;
}

type Values = Readonly<Record<string, unknown>>;

function layoutOf(type: string): Layout | undefined {
  return Object.hasOwn(LAYOUTS, type) ? LAYOUTS[type] : undefined;
}

/**
 * Reads the RDATA between two offsets of a message. RDATA that is not valid for its type affects only that record: it
 * is returned as the octets of RFC 3597 (`\# 3 0A0000`) without typed fields. Throws DecodeError for a name that cannot
 * be read.
 */
export function readRdata(type: string, message: Uint8Array, start: number, end: number): Rdata {
  const layout = layoutOf(type);
  if (layout !== undefined) {
    try {
      const { values, raw } = readFields(layout, new RdataReader(message, start, end));
      return { data: formatFields(layout, values), raw, typed: { ...values, ...layout.derive?.(values, raw) } };
    } catch (error) {
      if (!(error instanceof DecodeError) || error instanceof RdataNameError) throw error;
    }
  }
  const raw = message.slice(start, end);
  return { data: formatOpaque(raw), raw, typed: {} };
}

function readFields(layout: Layout, reader: RdataReader): { values: Values; raw: Uint8Array } {
  const values: Record<string, unknown> = {};
  for (const [name, form] of layout.fields) values[name] = form.read(reader);
  if (reader.left > 0) throw new DecodeError("RDATA is longer than its fields");
  return { values, raw: reader.expanded() };
}

function inTextOrder(layout: Layout): Layout["fields"] {
  const { textOrder } = layout;
  if (textOrder === undefined) return layout.fields;
  return layout.fields.toSorted(([one], [other]) => textOrder.indexOf(one) - textOrder.indexOf(other));
}

function formatFields(layout: Layout, values: Values): string {
  const words = inTextOrder(layout).map(([name, form]) => form.format(values[name]));
  return words.filter((word) => word !== "").join(" ");
}

function formatOpaque(raw: Uint8Array): string {
  return raw.length === 0 ? "\\# 0" : `\\# ${raw.length} ${toHex(raw)}`;
}

/** Parses the presentation form of a type's RDATA into octets, with names uncompressed. Throws DecodeError. */
export function parseRdata(type: string, text: string): Uint8Array {
  const tokens = new Tokens(text);
  if (tokens.peek() === "\\#") return parseOpaque(tokens);
  const layout = layoutOf(type);
  if (layout === undefined) throw new DecodeError(`only the \\# form is supported for ${type}`);
  const values: Record<string, unknown> = {};
  for (const [name, form] of inTextOrder(layout)) values[name] = form.parse(tokens);
  if (tokens.left > 0) throw new DecodeError("there are more words than fields");
  const writer = new ByteWriter();
  for (const [name, form] of layout.fields) form.write(writer, values[name]);
  return writer.finish();
}

function parseOpaque(tokens: Tokens): Uint8Array {
  tokens.take();
  const length = parseInteger(tokens.take(), 0xffff);
  const bytes = Buffer.from(parseHex(tokens.rest().join("")), "hex");
  if (bytes.length !== length) throw new DecodeError("length differs from the octets given");
  return new Uint8Array(bytes);
}

/**
 * Returns RDATA in canonical form for signatures (RFC 4034 section 6.2): names in lower case if the type requires it.
 * `raw` is the value that `readRdata` returned.
 */
export function canonicalRdata(type: string, raw: Uint8Array): Uint8Array {
  const layout = layoutOf(type);
  if (layout?.lowerNames !== true) return raw;
  try {
    return readFields(layout, new RdataReader(raw, 0, raw.length, true)).raw;
  } catch (error) {
    // RDATA that is not valid for its type has no names to convert.
    if (error instanceof DecodeError) return raw;
    throw error;
  }
}

/** The fields of one type's RDATA in wire order, under their RFC names. */
interface Layout {
  readonly fields: readonly (readonly [name: string, field: field.Field<unknown>])[];
  /** Computes useful values in addition to the fields. */
  derive?(values: Readonly<Record<string, unknown>>, rdata: Uint8Array): Readonly<Record<string, unknown>>;
  /**
   * Whether names are converted to lower case in canonical form (RFC 4034 section 6.2 as amended by RFC 6840 section
   * 5.1).
   */
  readonly lowerNames?: true;
  /** Order of the fields in presentation form, if it differs from wire order. */
  readonly textOrder?: readonly string[];
}

function layoutWith(fields: Readonly<Record<string, field.Field<unknown>>>, more: Omit<Layout, "fields"> = {}): Layout {
  return { fields: Object.entries(fields), ...more };
}

const { u8, u16, u32, domainName, characterString } = field;

const TEXT = layoutWith(
  { strings: field.characterStrings },
  { derive: ({ strings }) => ({ text: readableText(strings as readonly string[]) }) },
);
const DS = layoutWith({ key_tag: u16, algorithm: u8, digest_type: u8, digest: octets.hexRest });
const DNSKEY = layoutWith(
  { flags: u16, protocol: u8, algorithm: u8, public_key: octets.base64Rest },
  { derive: (_values, rdata) => ({ key_tag: dnssec.keyTag(rdata) }) },
);
const TLSA = layoutWith({
  certificate_usage: u8,
  selector: u8,
  matching_type: u8,
  certificate_association_data: octets.hexRest,
});
const SVCB = layoutWith({ priority: u16, target: domainName, params: svcParams });

function oneName(name: string): Layout {
  return layoutWith({ [name]: domainName }, { lowerNames: true });
}

/**
 * Types with parsed RDATA. Others are shown in the \# form of RFC 3597. Types are from RFC 1035 unless stated
 * otherwise. A TXT's `strings` have one character per octet. Its `text` is the joined strings, decoded as UTF-8 if they
 * are valid UTF-8.
 */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  A: layoutWith({ address: field.ipv4 }),
  AAAA: layoutWith({ address: field.ipv6 }), // RFC 3596
  NS: oneName("nsdname"),
  CNAME: oneName("cname"),
  DNAME: oneName("target"), // RFC 6672
  PTR: oneName("ptrdname"),
  MB: oneName("madname"),
  MD: oneName("madname"),
  MF: oneName("madname"),
  MG: oneName("mgmname"),
  MR: oneName("newname"),
  MINFO: layoutWith({ rmailbx: domainName, emailbx: domainName }, { lowerNames: true }),
  SOA: layoutWith(
    { mname: domainName, rname: domainName, serial: u32, refresh: u32, retry: u32, expire: u32, minimum: u32 },
    { lowerNames: true },
  ),
  MX: layoutWith({ preference: u16, exchange: domainName }, { lowerNames: true }),
  TXT: TEXT,
  SPF: TEXT, // RFC 4408
  HINFO: layoutWith({ cpu: characterString, os: characterString }),
  RP: layoutWith({ mbox_dname: domainName, txt_dname: domainName }, { lowerNames: true }), // RFC 1183
  AFSDB: layoutWith({ subtype: u16, hostname: domainName }, { lowerNames: true }), // RFC 1183
  RT: layoutWith({ preference: u16, intermediate_host: domainName }, { lowerNames: true }), // RFC 1183
  PX: layoutWith({ preference: u16, map822: domainName, mapx400: domainName }, { lowerNames: true }), // RFC 2163
  KX: layoutWith({ preference: u16, exchanger: domainName }, { lowerNames: true }), // RFC 2230
  LOC: layoutWith(
    {
      version: location.version,
      size_m: location.extent(1),
      horizontal_precision_m: location.extent(10_000),
      vertical_precision_m: location.extent(10),
      latitude: location.latitude,
      longitude: location.longitude,
      altitude_m: location.altitude,
    },
    {
      textOrder: [
        "version",
        "latitude",
        "longitude",
        "altitude_m",
        "size_m",
        "horizontal_precision_m",
        "vertical_precision_m",
      ],
    },
  ), // RFC 1876
  SRV: layoutWith({ priority: u16, weight: u16, port: u16, target: domainName }, { lowerNames: true }), // RFC 2782
  NAPTR: layoutWith(
    {
      order: u16,
      preference: u16,
      flags: characterString,
      services: characterString,
      regexp: characterString,
      replacement: domainName,
    },
    { lowerNames: true },
  ), // RFC 3403
  DS, // RFC 4034
  CDS: DS, // RFC 7344
  DNSKEY,
  CDNSKEY: DNSKEY,
  RRSIG: layoutWith(
    {
      type_covered: dnssec.typeMnemonic,
      algorithm: u8,
      labels: u8,
      original_ttl: u32,
      expiration: dnssec.timestamp,
      inception: dnssec.timestamp,
      key_tag: u16,
      signer_name: domainName,
      signature: octets.base64Rest,
    },
    { lowerNames: true },
  ),
  NSEC: layoutWith({ next_domain_name: domainName, types: dnssec.typeBitmap }),
  NSEC3: layoutWith({
    hash_algorithm: u8,
    flags: u8,
    iterations: u16,
    salt: octets.salt,
    next_hashed_owner: octets.nextHash,
    types: dnssec.typeBitmap,
  }), // RFC 5155
  NSEC3PARAM: layoutWith({ hash_algorithm: u8, flags: u8, iterations: u16, salt: octets.salt }),
  CSYNC: layoutWith({ serial: u32, flags: u16, types: dnssec.typeBitmap }), // RFC 7477
  ZONEMD: layoutWith({ serial: u32, scheme: u8, hash_algorithm: u8, digest: octets.hexRest }), // RFC 8976
  SSHFP: layoutWith({ algorithm: u8, fp_type: u8, fingerprint: octets.hexRest }), // RFC 4255
  TLSA, // RFC 6698
  SMIMEA: TLSA, // RFC 8162
  OPENPGPKEY: layoutWith({ public_key: octets.base64Rest }), // RFC 7929
  SVCB, // RFC 9460
  HTTPS: SVCB,
  URI: layoutWith({ priority: u16, weight: u16, target: field.quotedRest }), // RFC 7553
  CAA: layoutWith(
    { flags: u8, tag: field.tag, value: field.quotedRest },
    { derive: ({ flags }) => ({ critical: (Number(flags) & 0x80) !== 0 }) },
  ), // RFC 8659
};

function readableText(strings: readonly string[]): string {
  const joined = strings.join("");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(joined, "latin1"));
  } catch {
    return joined;
  }
}
