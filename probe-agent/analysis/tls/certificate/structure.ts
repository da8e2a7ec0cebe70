import { isAscii, isUtf8 } from "node:buffer";
import {
  childrenOf,
  expectTag,
  oidText,
  readDer,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** Tags of issuerUniqueID, subjectUniqueID and extensions, in encoding order (RFC 5280 section 4.1). */
const OPTIONAL_TAGS: readonly number[] = [0x81, 0x82, 0xa3];
const EXTENSIONS = 0xa3;
const NUMERIC_STRING = 0x12;
/** Characters of a PrintableString (X.680 section 41.4), and the asterisk and the ampersand, which Go also allows. */
const PRINTABLE = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?*&", "latin1"),
);
const NUMERIC = new Set(Buffer.from("0123456789 ", "latin1"));

/** Returns the fields of the signed part, with the version separate; null if it is absent. Throws MalformedDer. */
function fieldsOf({ der }: Certificate): { version: Der | null; fields: readonly Der[] } {
  const [tbs] = sequenceOf(der);
  const fields = childrenOf(expectTag(tbs, TAG.sequence).contents);
  const version = fields[0]?.tag === 0xa0 ? fields[0] : null;
  return { version, fields: version === null ? fields : fields.slice(1) };
}

/**
 * Reports whether the version is 1, 2 or 3 and is encoded as DER requires: version 1 is the default and is omitted.
 * Throws MalformedDer.
 */
export function hasValidVersion(certificate: Certificate): boolean {
  const { version } = fieldsOf(certificate);
  return version === null || certificate.version === 2 || certificate.version === 3;
}

/** Reports whether the serial number is not negative. */
export function hasPositiveSerial({ serialNumber }: Certificate): boolean {
  return ((serialNumber[0] ?? 0x80) & 0x80) === 0;
}

/** Reports whether an INTEGER is encoded in as few octets as possible (X.690 section 8.3.2). */
export function isMinimalInteger(contents: Uint8Array): boolean {
  const [first, second] = contents;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

/**
 * Reports whether only fields that the version allows follow the key, each once and in order, and whether the validity
 * has exactly two fields. Throws MalformedDer.
 */
export function hasValidFields(certificate: Certificate): boolean {
  const { fields } = fieldsOf(certificate);
  const [, , , validity] = fields;
  const places = fields.slice(6).map(({ tag }) => OPTIONAL_TAGS.indexOf(tag));
  const ordered = places.every((place, index) => place > (index === 0 ? -1 : (places[index - 1] ?? -1)));
  const allowed = places.every((place) => certificate.version >= (OPTIONAL_TAGS[place] === EXTENSIONS ? 3 : 2));
  return ordered && allowed && childrenOf(expectTag(validity).contents).length === 2;
}

/**
 * Reports whether the list of extensions is absent, or has entries of two or three fields, with `critical` encoded as
 * DER requires. Throws MalformedDer.
 */
export function hasValidExtensionList(certificate: Certificate): boolean {
  const wrapped = fieldsOf(certificate).fields.find(({ tag }) => tag === EXTENSIONS);
  if (wrapped === undefined) return true;
  const extensions = sequenceOf(wrapped.contents);
  return (
    extensions.length > 0 &&
    extensions.every((extension) => {
      const [, second, ...more] = childrenOf(expectTag(extension, TAG.sequence).contents);
      // FALSE is the default and is omitted (X.690 section 11.5).
      return second?.tag === TAG.boolean ? isTrue(second) && more.length === 1 : more.length === 0;
    })
  );
}

/** Reports whether a BOOLEAN is TRUE as DER encodes it (X.690 section 11.1). */
export function isTrue({ contents }: Der): boolean {
  return contents.length === 1 && contents[0] === 0xff;
}

/**
 * Reports whether each relative distinguished name has attributes, and each string only the characters that its type
 * allows. Throws MalformedDer.
 */
export function isValidName(der: Uint8Array): boolean {
  return sequenceOf(der).every((relative) => {
    const attributes = childrenOf(expectTag(relative, TAG.set).contents);
    return (
      attributes.length > 0 &&
      attributes.every((attribute) => {
        const [type, value, ...more] = childrenOf(expectTag(attribute, TAG.sequence).contents);
        oidText(expectTag(type, TAG.oid).contents);
        return more.length === 0 && isValidString(expectTag(value));
      })
    );
  });
}

function isValidString({ tag, contents }: Der): boolean {
  if (tag === TAG.printableString) return contents.every((octet) => PRINTABLE.has(octet));
  if (tag === NUMERIC_STRING) return contents.every((octet) => NUMERIC.has(octet));
  if (tag === TAG.utf8String) return isUtf8(contents);
  if (tag === TAG.ia5String) return isAscii(contents);
  if (tag === TAG.bmpString) return contents.length % 2 === 0;
  return tag !== TAG.universalString || contents.length % 4 === 0;
}

/** Reports whether a DER Name is empty. Throws MalformedDer. */
export function isEmptyName(der: Uint8Array): boolean {
  return readDer(der, TAG.sequence).contents.length === 0;
}
