import {
  childrenOf,
  expectTag,
  oidText,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";

/** One attribute of a distinguished name. */
interface NameAttribute {
  readonly oid: string;
  readonly value: string;
}

/** A distinguished name: relative distinguished names in encoding order, most with one attribute. */
type DistinguishedName = readonly (readonly NameAttribute[])[];

/** Attribute type OIDs looked up by name. */
export const ATTRIBUTE = {
  commonName: "2.5.4.3",
  country: "2.5.4.6",
  organization: "2.5.4.10",
  emailAddress: "1.2.840.113549.1.9.1",
} as const;

/** Short names of attribute types: those of RFC 4514 section 3, and others that are common in certificates. */
const SHORT: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.4": "SN",
  "2.5.4.5": "serialNumber",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "street",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.12": "title",
  "2.5.4.15": "businessCategory",
  "2.5.4.17": "postalCode",
  "2.5.4.42": "GN",
  "2.5.4.97": "organizationIdentifier",
  "0.9.2342.19200300.100.1.1": "UID",
  "0.9.2342.19200300.100.1.25": "DC",
  "1.2.840.113549.1.9.1": "emailAddress",
  "1.3.6.1.4.1.311.60.2.1.1": "jurisdictionL",
  "1.3.6.1.4.1.311.60.2.1.2": "jurisdictionST",
  "1.3.6.1.4.1.311.60.2.1.3": "jurisdictionC",
};

/** Parses a DER Name. Throws MalformedDer. */
export function readName(der: Uint8Array): DistinguishedName {
  return sequenceOf(der).map((relative) =>
    childrenOf(expectTag(relative, TAG.set).contents).map((attribute) => {
      const [type, value] = childrenOf(expectTag(attribute, TAG.sequence).contents);
      return { oid: oidText(expectTag(type, TAG.oid).contents), value: textOf(expectTag(value)) };
    }),
  );
}

/** Renders a name as RFC 4514 text: the last relative distinguished name first. */
export function nameText(name: DistinguishedName): string {
  return name
    .toReversed()
    .map((relative) => relative.map(({ oid, value }) => `${SHORT[oid] ?? oid}=${escaped(value)}`).join("+"))
    .join(",");
}

/** Returns the first value of an attribute, or null if the name does not have the attribute. */
export function attributeOf(name: DistinguishedName, oid: string): string | null {
  return name.flat().find((attribute) => attribute.oid === oid)?.value ?? null;
}

/**
 * Returns one key for each relative distinguished name. Names that RFC 5280 section 7.1 considers equal have equal
 * keys: string type, letter case and runs of white space do not matter.
 */
export function canonicalName(name: DistinguishedName): string[] {
  return name.map((relative) =>
    relative
      .map(({ oid, value }) => `${oid}=${value.trim().replaceAll(/\s+/g, " ").normalize("NFKC").toLowerCase()}`)
      .toSorted()
      .join("\u0000+"),
  );
}

/** Returns the text of a DirectoryString. Other types are decoded as latin1. */
function textOf({ tag, contents }: Der): string {
  if (tag === TAG.utf8String) return Buffer.from(contents).toString("utf8");
  if (tag === TAG.bmpString) return wideText(contents, 2);
  if (tag === TAG.universalString) return wideText(contents, 4);
  return Buffer.from(contents).toString("latin1");
}

/** Decodes big-endian code points of two or four octets each. */
function wideText(contents: Uint8Array, size: 2 | 4): string {
  const bytes = Buffer.from(contents);
  let text = "";
  for (let at = 0; at + size <= bytes.length; at += size) {
    const point = bytes.readUIntBE(at, size);
    text += point <= 0x10_ff_ff ? String.fromCodePoint(point) : "\ufffd";
  }
  return text;
}

/** Escapes a value (RFC 4514 section 2.4). */
function escaped(value: string): string {
  return value.replaceAll(/["+,;<>\\]|^[ #]| $/g, "\\$&").replaceAll("\u0000", "\\00");
}
