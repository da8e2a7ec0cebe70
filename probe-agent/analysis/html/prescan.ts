/** Bytes in which a page must declare its encoding (WHATWG HTML). */
export const PRESCAN_BYTES = 1024;

/** The label a meta element declares within the first 1024 bytes (WHATWG HTML, prescan a byte stream). */
export function prescanForCharset(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, PRESCAN_BYTES)).toString(
    "latin1",
  );
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("<", at);
    if (open === -1) return null;
    if (text.startsWith("<!--", open)) {
      // "<!-->" is a whole comment: its dashes may serve twice.
      const close = text.indexOf("-->", open + 2);
      if (close === -1) return null;
      at = close + 3;
    } else if (/^<meta[\s/]/i.test(text.slice(open, open + 6))) {
      const { attributes, end } = readAttributes(text, open + 5);
      const label = declaredCharset(attributes);
      if (label !== null) return label;
      at = end + 1;
    } else if (/^<\/?[a-z]/i.test(text.slice(open, open + 3))) {
      const name = /[\s>]/.exec(text.slice(open));
      at = readAttributes(text, name === null ? text.length : open + name.index).end + 1;
    } else if (/^<[!/?]/.test(text.slice(open, open + 2))) {
      const close = text.indexOf(">", open);
      at = close === -1 ? text.length : close + 1;
    } else {
      at = open + 1;
    }
  }
  return null;
}

/** charset wins; content counts only beside http-equiv=content-type. */
function declaredCharset(attributes: ReadonlyMap<string, string>): string | null {
  const charset = attributes.get("charset");
  if (charset !== undefined) return charset;
  const pragma = attributes.get("http-equiv")?.toLowerCase() === "content-type";
  return pragma ? charsetInContent(attributes.get("content") ?? "") : null;
}

/** WHATWG HTML, extracting a character encoding from a meta element. */
export function charsetInContent(content: string): string | null {
  const match = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i.exec(content.slice(0, PRESCAN_BYTES));
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? null;
}

/** Attributes up to the ">" (its index is `end`), the first of a name counts. */
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
