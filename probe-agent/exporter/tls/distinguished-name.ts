import { encodeDer } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import { MalformedDer, TAG } from "#probe-agent/analysis/tls/certificate/der.ts";
import { readName } from "#probe-agent/analysis/tls/certificate/names.ts";

/** Types of attributes that Go names, in the order in which it writes them, from the last to the first. */
const NAMED: readonly (readonly [oid: string, name: string])[] = [
  ["2.5.4.6", "C"],
  ["2.5.4.8", "ST"],
  ["2.5.4.7", "L"],
  ["2.5.4.9", "STREET"],
  ["2.5.4.17", "POSTALCODE"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
  ["2.5.4.3", "CN"],
  ["2.5.4.5", "SERIALNUMBER"],
];
const SINGLE = new Set(["CN", "SERIALNUMBER"]);

/**
 * Renders a DER Name as Go's pkix.Name.String(), which label values have: by type instead of the order of the
 * certificate, all values of a type in one relative name, the last common name and serial number alone, and other types
 * at the end as octets. Returns "" for a name that cannot be read.
 */
export function goName(der: Uint8Array): string {
  try {
    const attributes = readName(der).flat();
    const others = attributes
      .filter(({ oid }) => !NAMED.some(([known]) => known === oid))
      .map(({ oid, value }) => `${oid}=#${encodeText(value)}`);
    const named = NAMED.flatMap(([type, name]) => {
      const values = attributes.filter(({ oid }) => oid === type).map(({ value }) => value);
      const shown = SINGLE.has(name) ? values.slice(-1).filter((value) => value !== "") : values;
      return shown.length === 0 ? [] : [shown.map((value) => `${name}=${escaped(value)}`).join("+")];
    });
    return [...others, ...named].toReversed().join(",");
  } catch (error) {
    if (error instanceof MalformedDer) return "";
    throw error;
  }
}

/** Escapes a value (RFC 2253 section 2.4) as Go does, which leaves control characters alone. */
function escaped(value: string): string {
  return value.replaceAll(/["+,;<>\\]|^[ #]| $/g, "\\$&");
}

/** Encodes a text in DER as Go does: a PrintableString where its characters allow that, else a UTF8String. */
function encodeText(value: string): string {
  const tag = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? TAG.printableString : TAG.utf8String;
  return Buffer.from(encodeDer(tag, Buffer.from(value))).toString("hex");
}
