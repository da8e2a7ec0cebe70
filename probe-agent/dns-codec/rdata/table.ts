import * as dnssec from "#probe-agent/dns-codec/rdata/dnssec-fields.ts";
import * as field from "#probe-agent/dns-codec/rdata/field.ts";
import * as location from "#probe-agent/dns-codec/rdata/location.ts";
import * as octets from "#probe-agent/dns-codec/rdata/octets.ts";
import { svcParams } from "#probe-agent/dns-codec/rdata/svc-params.ts";

/** The fields of one type's RDATA in wire order, under their RFC names. */
export interface Layout {
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

function layout(fields: Readonly<Record<string, field.Field<unknown>>>, more: Omit<Layout, "fields"> = {}): Layout {
  return { fields: Object.entries(fields), ...more };
}

const { u8, u16, u32, domainName, characterString } = field;

const TEXT = layout(
  { strings: field.characterStrings },
  { derive: ({ strings }) => ({ text: readableText(strings as readonly string[]) }) },
);
const DS = layout({ key_tag: u16, algorithm: u8, digest_type: u8, digest: octets.hexRest });
const DNSKEY = layout(
  { flags: u16, protocol: u8, algorithm: u8, public_key: octets.base64Rest },
  { derive: (_values, rdata) => ({ key_tag: dnssec.keyTag(rdata) }) },
);
const TLSA = layout({
  certificate_usage: u8,
  selector: u8,
  matching_type: u8,
  certificate_association_data: octets.hexRest,
});
const SVCB = layout({ priority: u16, target: domainName, params: svcParams });

function oneName(name: string): Layout {
  return layout({ [name]: domainName }, { lowerNames: true });
}

/**
 * Types with parsed RDATA. Others are shown in the \# form of RFC 3597. Types are from RFC 1035 unless stated
 * otherwise. A TXT's `strings` have one character per octet. Its `text` is the joined strings, decoded as UTF-8 if they
 * are valid UTF-8.
 */
export const LAYOUTS: Readonly<Record<string, Layout>> = {
  A: layout({ address: field.ipv4 }),
  AAAA: layout({ address: field.ipv6 }), // RFC 3596
  NS: oneName("nsdname"),
  CNAME: oneName("cname"),
  DNAME: oneName("target"), // RFC 6672
  PTR: oneName("ptrdname"),
  SOA: layout(
    { mname: domainName, rname: domainName, serial: u32, refresh: u32, retry: u32, expire: u32, minimum: u32 },
    { lowerNames: true },
  ),
  MX: layout({ preference: u16, exchange: domainName }, { lowerNames: true }),
  TXT: TEXT,
  SPF: TEXT, // RFC 4408
  HINFO: layout({ cpu: characterString, os: characterString }),
  RP: layout({ mbox_dname: domainName, txt_dname: domainName }, { lowerNames: true }), // RFC 1183
  AFSDB: layout({ subtype: u16, hostname: domainName }, { lowerNames: true }), // RFC 1183
  KX: layout({ preference: u16, exchanger: domainName }, { lowerNames: true }), // RFC 2230
  LOC: layout(
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
  SRV: layout({ priority: u16, weight: u16, port: u16, target: domainName }, { lowerNames: true }), // RFC 2782
  NAPTR: layout(
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
  RRSIG: layout(
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
  NSEC: layout({ next_domain_name: domainName, types: dnssec.typeBitmap }),
  NSEC3: layout({
    hash_algorithm: u8,
    flags: u8,
    iterations: u16,
    salt: octets.salt,
    next_hashed_owner: octets.nextHash,
    types: dnssec.typeBitmap,
  }), // RFC 5155
  NSEC3PARAM: layout({ hash_algorithm: u8, flags: u8, iterations: u16, salt: octets.salt }),
  CSYNC: layout({ serial: u32, flags: u16, types: dnssec.typeBitmap }), // RFC 7477
  ZONEMD: layout({ serial: u32, scheme: u8, hash_algorithm: u8, digest: octets.hexRest }), // RFC 8976
  SSHFP: layout({ algorithm: u8, fp_type: u8, fingerprint: octets.hexRest }), // RFC 4255
  TLSA, // RFC 6698
  SMIMEA: TLSA, // RFC 8162
  OPENPGPKEY: layout({ public_key: octets.base64Rest }), // RFC 7929
  SVCB, // RFC 9460
  HTTPS: SVCB,
  URI: layout({ priority: u16, weight: u16, target: field.quotedRest }), // RFC 7553
  CAA: layout(
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
