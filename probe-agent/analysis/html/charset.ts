import { prescanForCharset } from "#probe-agent/analysis/html/prescan.ts";

/** How a page's encoding was found, in the order of precedence (WHATWG HTML, determining the character encoding). */
export type CharsetSource = "bom" | "header" | "meta" | "guess";

/** An encoding by its WHATWG name in lower case, e.g. "utf-8", and where it was declared. */
export interface Charset {
  readonly encoding: string;
  readonly source: CharsetSource;
}

/** The encoding of a page: byte order mark, then Content-Type, then a meta element in the first 1024 bytes. */
export function pageCharset(bytes: Uint8Array, contentType: string | null): Charset {
  const marked = byteOrderMark(bytes);
  if (marked !== null) return { encoding: marked, source: "bom" };
  const declared = encodingOf(charsetParameter(contentType ?? ""));
  if (declared !== null) return { encoding: declared, source: "header" };
  const meta = encodingOf(prescanForCharset(bytes));
  if (meta !== null) return { encoding: metaEncoding(meta), source: "meta" };
  return { encoding: isUtf8(bytes) ? "utf-8" : "windows-1252", source: "guess" };
}

/** Decodes a page; octets that do not fit become U+FFFD. The byte order mark is dropped. */
export function decodePage(bytes: Uint8Array, charset: Charset): string {
  try {
    return new TextDecoder(charset.encoding).decode(bytes);
  } catch {
    return new TextDecoder("utf-8").decode(bytes);
  }
}

/** The charset parameter of a Content-Type, quoted or not; null where there is none. */
export function charsetParameter(contentType: string): string | null {
  const match = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,]+))/i.exec(contentType.slice(0, 1024));
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
}

/** A label's encoding, null where the standard knows no such label (or this runtime cannot decode it). */
export function encodingOf(label: string | null): string | null {
  if (label === null) return null;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return null;
  }
}

/** A meta element that could be read as ASCII cannot be UTF-16 (WHATWG HTML, prescan, step for "utf-16"). */
function metaEncoding(encoding: string): string {
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
    // A sequence cut by a size limit is no fault of the page: `stream` leaves it open.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytes.byteLength > 1_000_000 });
    return true;
  } catch {
    return false;
  }
}
