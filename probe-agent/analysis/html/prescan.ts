import { encodingOf } from "#probe-agent/analysis/text/encodings.ts";

/** Number of bytes within which a page must declare its encoding (WHATWG HTML). */
const PRESCAN_BYTES = 1024;
/** Number of bytes searched for a declaration that is too late. */
const LATE_BYTES = 1024 * 1024;
/** Elements whose content is text. A meta tag in it is not an element. */
const RAW_TEXT = new Set("script style title textarea xmp iframe noembed noframes plaintext".split(" "));

/** Returns the encoding that a meta element declares in the first 1024 bytes (WHATWG HTML, prescan a byte stream). */
export function prescanForCharset(bytes: Uint8Array): string | null {
  return scan(latin1(bytes, PRESCAN_BYTES), false);
}

/** Returns the encoding that a meta element declares later, in the first MiB. Browsers then parse the page again. */
export function findLateCharset(bytes: Uint8Array): string | null {
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
      const encoding = encodingOf(declaredCharset(attributes));
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
function declaredCharset(attributes: ReadonlyMap<string, string>): string | null {
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
