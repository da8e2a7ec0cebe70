import { normalizeEncoding, TextDecoder as StandardDecoder } from "@exodus/bytes/encoding.js";

/**
 * Returns the WHATWG name, in lower case, of the encoding of a label, or null if the standard has no such label. For
 * labels of encodings that are unsafe to decode, e.g. hz-gb-2312, returns "replacement" (Encoding Standard, section
 * 4.2).
 */
export function encodingOf(label: string | null): string | null {
  return label === null ? null : normalizeEncoding(label.slice(0, MAX_LABEL));
}

const MAX_LABEL = 1000;

/**
 * Decodes octets by the Encoding Standard. Invalid octets become U+FFFD, and a byte order mark is removed. `encoding`
 * is a name returned by encodingOf. The runtime's TextDecoder uses ICU's tables, which differ from the standard's
 * indexes: of the 65,536 pairs of octets, 7,145 differ in Big5, 17,267 in EUC-KR, 14,681 in EUC-JP and 2,644 in
 * Shift_JIS (Node 24.21, ICU 78.3). UTF-8 is the same in both, so it is decoded by the runtime, which is faster.
 */
export function decodeText(octets: Uint8Array, encoding: string): string {
  if (encoding === "utf-8") return new TextDecoder().decode(octets);
  // The replacement decoder returns one error for the whole stream (Encoding Standard, section 14.1.1).
  if (encoding === "replacement") return octets.byteLength === 0 ? "" : "\u{FFFD}";
  return new StandardDecoder(encoding).decode(octets);
}
