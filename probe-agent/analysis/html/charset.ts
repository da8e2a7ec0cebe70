import { decodeText, encodingOf } from "#probe-agent/analysis/text/encodings.ts";
import { findLateCharset, prescanForCharset } from "#probe-agent/analysis/html/prescan.ts";

/**
 * Source of a page's encoding, in the order of precedence (WHATWG HTML, determining the character encoding). "xml" is
 * an XML declaration. "late_meta" is a meta element beyond the first 1024 bytes, for which browsers start parsing again
 * (WHATWG HTML, changing the encoding while parsing).
 */
type CharsetSource = "bom" | "header" | "meta" | "xml" | "late_meta" | "guess";

/** An encoding by its WHATWG name in lower case, e.g. "utf-8", and the source of its declaration. */
export interface Charset {
  readonly encoding: string;
  readonly source: CharsetSource;
}

/** Maximum number of bytes of a declaration that are read. */
const MAX_BYTES = 1024;

/** Determines the encoding of a page. A label unknown to the standard is ignored, and the next source decides. */
export function pageCharset(bytes: Uint8Array, contentType: string | null): Charset {
  const declared = declaredCharset(bytes, contentType);
  if (declared !== null) return declared;
  const late = findLateCharset(bytes);
  if (late !== null) return { encoding: metaEncoding(late), source: "late_meta" };
  return { encoding: isUtf8(bytes) ? "utf-8" : "windows-1252", source: "guess" };
}

/** Determines the encoding from the places that need little work to read; null if none of them declares it. */
export function declaredCharset(bytes: Uint8Array, contentType: string | null): Charset | null {
  const marked = byteOrderMark(bytes);
  if (marked !== null) return { encoding: marked, source: "bom" };
  const declared = encodingOf(charsetParameter(contentType ?? ""));
  if (declared !== null) return { encoding: declared, source: "header" };
  const meta = prescanForCharset(bytes);
  if (meta !== null) return { encoding: metaEncoding(meta), source: "meta" };
  const xml = xmlEncoding(bytes);
  return xml === null ? null : { encoding: xml, source: "xml" };
}

/**
 * Reports whether the encoding is declared where every reader finds it: by a BOM, the header or the first 1024 bytes.
 */
export function isDeclared({ source }: Charset): boolean {
  return source !== "guess" && source !== "late_meta";
}

/** Decodes a page. Invalid bytes become U+FFFD. Removes the byte order mark. */
export function decodePage(bytes: Uint8Array, charset: Charset): string {
  return decodeText(bytes, charset.encoding);
}

/** Returns the charset parameter of a Content-Type, quoted or not, or null if there is none. */
function charsetParameter(contentType: string): string | null {
  const match = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]+))/i.exec(contentType.slice(0, 1024));
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
}

/**
 * Returns the encoding that a meta element's label means. A page whose meta element is readable as ASCII cannot be
 * UTF-16, and x-user-defined means windows-1252 here (WHATWG HTML, prescan).
 */
function metaEncoding(encoding: string): string {
  if (encoding === "x-user-defined") return "windows-1252";
  return encoding.startsWith("utf-16") ? "utf-8" : encoding;
}

function byteOrderMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : null;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // The size limit can cut a sequence, which is not an error of the page. `stream` accepts an incomplete sequence.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytes.byteLength > 1_000_000 });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the encoding of an XML declaration at the very start of a page, or null if there is none (WHATWG HTML,
 * getting an XML encoding).
 */
function xmlEncoding(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_BYTES)).toString("latin1");
  // Without a byte order mark, the zero bytes of a declaration reveal UTF-16.
  if (start.startsWith("<\0?\0x\0")) return "utf-16le";
  if (start.startsWith("\0<\0?\0x")) return "utf-16be";
  const end = start.indexOf(">");
  if (!start.startsWith("<?xml") || end === -1) return null;
  const [, double, single] = /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(start.slice(0, end)) ?? [];
  const label = double ?? single ?? null;
  const encoding = label === null || /\s/.test(label) ? null : encodingOf(label);
  // A declaration that is readable as ASCII cannot be in UTF-16.
  return encoding?.startsWith("utf-16") === true ? "utf-8" : encoding;
}
