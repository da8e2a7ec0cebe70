import { normalizeEncoding, TextDecoder as StandardDecoder } from "@exodus/bytes/encoding.js";

/**
 * The encoding of a label, by its WHATWG name in lower case; null where the standard knows no such label. Labels of
 * encodings that are unsafe to decode, e.g. hz-gb-2312, give "replacement" (Encoding Standard, section 4.2).
 */
export function encodingOf(label: string | null): string | null {
  return label === null ? null : normalizeEncoding(label.slice(0, MAX_LABEL));
}

const MAX_LABEL = 1000;

/**
 * Decodes octets by the Encoding Standard; those that do not fit become U+FFFD, and a byte order mark is dropped.
 * `encoding` is a name that encodingOf gave. The runtime's own TextDecoder uses ICU's tables, which differ from the
 * standard's indexes: of the 65,536 pairs of octets, 7,145 in Big5, 17,267 in EUC-KR, 14,681 in EUC-JP and 2,644 in
 * Shift_JIS (Node 24.21, ICU 78.3). UTF-8 is the same in both, and the runtime's is faster.
 */
export function decodeText(octets: Uint8Array, encoding: string): string {
  if (encoding === "utf-8") return new TextDecoder().decode(octets);
  // The whole stream is one error (Encoding Standard, section 14.1.1).
  if (encoding === "replacement") return octets.byteLength === 0 ? "" : "\u{FFFD}";
  return new StandardDecoder(encoding).decode(octets);
}
