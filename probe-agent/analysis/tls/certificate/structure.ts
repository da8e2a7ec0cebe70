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

/** Tags of issuerUniqueID, subjectUniqueID and extensions, in their order (RFC 5280 section 4.1). */
const OPTIONAL_TAGS: readonly number[] = [0x81, 0x82, 0xa3];
const EXTENSIONS = 0xa3;
const NUMERIC_STRING = 0x12;
/** X.680 section 41.4, with the asterisk and the ampersand that Go allows too. */
const PRINTABLE = new Set(
  Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 '()+,-./:=?*&", "latin1"),
);
const NUMERIC = new Set(Buffer.from("0123456789 ", "latin1"));

/** The fields of the signed part, version first where it is there. Throws MalformedDer. */
function fieldsOf({ der }: Certificate): { version: Der | null; fields: readonly Der[] } {
  const [tbs] = sequenceOf(der);
  const fields = childrenOf(expectTag(tbs, TAG.sequence).contents);
  const version = fields[0]?.tag === 0xa0 ? fields[0] : null;
  return { version, fields: version === null ? fields : fields.slice(1) };
}

/** Whether the version is 1 to 3 and, being the default, 1 is not written out. Throws MalformedDer. */
export function hasValidVersion(certificate: Certificate): boolean {
  const { version } = fieldsOf(certificate);
  return version === null || certificate.version === 2 || certificate.version === 3;
}

/** Whether the serial number is not negative. */
export function hasPositiveSerial({ serialNumber }: Certificate): boolean {
  return ((serialNumber[0] ?? 0x80) & 0x80) === 0;
}

/** Whether an INTEGER's contents have no needless first octet (X.690 section 8.3.2). */
export function isMinimalInteger(contents: Uint8Array): boolean {
  const [first, second] = contents;
  if (first === undefined) return false;
  if (second === undefined) return true;
  return !(first === 0 && second < 0x80) && !(first === 0xff && second >= 0x80);
}

/** Whether nothing but what the version allows follows the key, each once and in order. Throws MalformedDer. */
export function hasValidFields(certificate: Certificate): boolean {
  const { fields } = fieldsOf(certificate);
  const [, , , validity] = fields;
  const places = fields.slice(6).map(({ tag }) => OPTIONAL_TAGS.indexOf(tag));
  const ordered = places.every((place, index) => place > (index === 0 ? -1 : (places[index - 1] ?? -1)));
  const allowed = places.every((place) => certificate.version >= (OPTIONAL_TAGS[place] === EXTENSIONS ? 3 : 2));
  return ordered && allowed && childrenOf(expectTag(validity).contents).length === 2;
}

/** Whether the list of extensions has entries, each of two or three fields, criticality written as DER wants it. */
export function hasValidExtensionList(certificate: Certificate): boolean {
  const wrapped = fieldsOf(certificate).fields.find(({ tag }) => tag === EXTENSIONS);
  if (wrapped === undefined) return true;
  const extensions = sequenceOf(wrapped.contents);
  return (
    extensions.length > 0 &&
    extensions.every((extension) => {
      const [, second, ...more] = childrenOf(expectTag(extension, TAG.sequence).contents);
      // X.690 section 11.5: FALSE is the default and left out.
      return second?.tag === TAG.boolean ? isTrue(second) && more.length === 1 : more.length === 0;
    })
  );
}

/** TRUE as DER writes it (X.690 section 11.1). */
export function isTrue({ contents }: Der): boolean {
  return contents.length === 1 && contents[0] === 0xff;
}

/** Whether each relative name has attributes, and each string the characters of its type. Throws MalformedDer. */
export function isValidName(der: Uint8Array): boolean {
  return sequenceOf(der).every((relative) => {
    const attributes = childrenOf(expectTag(relative, TAG.set).contents);
    return (
      attributes.length > 0 &&
      attributes.every((attribute) => {
        const [type, value, ...more] = childrenOf(expectTag(attribute, TAG.sequence).contents);
        oidText(expectTag(type, TAG.oid).contents);
        return more.length === 0 && isSoundString(expectTag(value));
      })
    );
  });
}

function isSoundString({ tag, contents }: Der): boolean {
  if (tag === TAG.printableString) return contents.every((octet) => PRINTABLE.has(octet));
  if (tag === NUMERIC_STRING) return contents.every((octet) => NUMERIC.has(octet));
  if (tag === TAG.utf8String) return isUtf8(contents);
  if (tag === TAG.ia5String) return isAscii(contents);
  if (tag === TAG.bmpString) return contents.length % 2 === 0;
  return tag !== TAG.universalString || contents.length % 4 === 0;
}

/** Whether a Name holds nothing. Throws MalformedDer. */
export function isEmptyName(der: Uint8Array): boolean {
  return readDer(der, TAG.sequence).contents.length === 0;
}
