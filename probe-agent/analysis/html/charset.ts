import { decodeText, encodingOf } from "#probe-agent/analysis/text/encodings.ts";

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

/** Number of bytes within which a page must declare its encoding (WHATWG HTML). */
const PRESCAN_BYTES = 1024;
/** Number of bytes searched for a declaration that is too late. */
const LATE_BYTES = 1024 * 1024;
/** Elements whose content is text. A meta tag in it is not an element. */
const RAW_TEXT = new Set("script style title textarea xmp iframe noembed noframes plaintext".split(" "));

/** Returns the encoding that a meta element declares in the first 1024 bytes (WHATWG HTML, prescan a byte stream). */
function prescanForCharset(bytes: Uint8Array): string | null {
  return scan(latin1(bytes, PRESCAN_BYTES), false);
}

/** Returns the encoding that a meta element declares later, in the first MiB. Browsers then parse the page again. */
function findLateCharset(bytes: Uint8Array): string | null {
  return bytes.byteLength <= PRESCAN_BYTES ? null : scan(latin1(bytes, LATE_BYTES), true);
}

function latin1(bytes: Uint8Array, most: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, most)).toString("latin1");
}

/**
 * Scans for a declared encoding. `skipsText` skips the content of raw text elements, as the parser does; the prescan of
 * the standard does not.
 */
function scan(text: string, skipsText: boolean): string | null {
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("<", at);
    if (open === -1) return null;
    if (text.startsWith("<!--", open)) {
      // "<!-->" is a complete comment: its dashes can open and close it.
      const close = text.indexOf("-->", open + 2);
      if (close === -1) return null;
      at = close + 3;
    } else if (/^<meta[\s/]/i.test(text.slice(open, open + 6))) {
      const { attributes, end } = readAttributes(text, open + 5);
      // An unknown label does not count. A later element can declare the encoding.
      const encoding = encodingOf(charsetOfMeta(attributes));
      if (encoding !== null) return encoding;
      at = end + 1;
    } else if (/^<\/?[a-z]/i.test(text.slice(open, open + 3))) {
      const name = tagName(text, open);
      at = readAttributes(text, open + name.length).end + 1;
      const tag = name.slice(1).toLowerCase();
      if (skipsText && RAW_TEXT.has(tag)) at = endOfText(text, at, tag);
    } else if (/^<[!/?]/.test(text.slice(open, open + 2))) {
      const close = text.indexOf(">", open);
      at = close === -1 ? text.length : close + 1;
    } else {
      at = open + 1;
    }
  }
  return null;
}

/** Returns "<" or "</" with the name after it. */
function tagName(text: string, open: number): string {
  const end = /[\s/>]/.exec(text.slice(open + 2, open + 100));
  return end === null ? text.slice(open, open + 100) : text.slice(open, open + 2 + end.index);
}

/** Returns the index of the end tag of a raw text element, or the end of the text. `from` is after its start tag. */
function endOfText(text: string, from: number, tag: string): number {
  for (let at = text.indexOf("</", from); at !== -1; at = text.indexOf("</", at + 2)) {
    if (text.slice(at + 2, at + 2 + tag.length).toLowerCase() === tag) return at;
  }
  return text.length;
}

/** Returns the declared label. charset takes precedence. content counts only with http-equiv=content-type. */
function charsetOfMeta(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get("charset");
  if (charset !== undefined) return charset;
  const pragma = attributes.get("http-equiv")?.toLowerCase() === "content-type";
  return pragma ? charsetInContent(attributes.get("content") ?? "") : null;
}

/** Returns the label in a content attribute (WHATWG HTML, extracting a character encoding from a meta element). */
function charsetInContent(content: string): string | null {
  const match = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(content.slice(0, PRESCAN_BYTES));
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
}

/** Reads the attributes up to the ">", whose index is `end`. Of attributes with the same name, the first counts. */
function readAttributes(text: string, start: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>();
  const attribute = /[\s/]*(?:([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*))?)?|=)/y;
  let at = start;
  for (;;) {
    attribute.lastIndex = at;
    const match = attribute.exec(text);
    if (match === null) break;
    at = attribute.lastIndex;
    const name = match[1]?.toLowerCase();
    if (name !== undefined && !attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? "");
  }
  const end = text.indexOf(">", at);
  return { attributes, end: end === -1 ? text.length : end };
}
