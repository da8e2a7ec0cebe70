import { isHtml } from "#probe-agent/analysis/html/read-page.ts";

/** Formats of a body that is not a robots.txt. */
type ForeignBody = "HTML" | "XML" | "JSON" | "UTF-16";

/** Maximum number of octets that are searched for XML or JSON. */
const MAX_JSON = 64 * 1024;

/**
 * Recognises a body that is not a robots.txt by its content, and returns its format; null for plain text. Servers that
 * respond to every URL with 200 send their error page, feed or API response with any Content-Type. A Content-Type of
 * HTML is sufficient too.
 */
export function foreignBody(contentType: string | null, bytes: Uint8Array): ForeignBody | null {
  if (isHtml(contentType, bytes) || isHtml(null, bytes)) return "HTML";
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "UTF-16";
  const text = Buffer.from(bytes.subarray(0, MAX_JSON))
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (/^<(?:\?xml\s|!--|!DOCTYPE\s|rss\s|feed\s|urlset\s|sitemapindex\s|svg\s)/i.test(text)) return "XML";
  return /^[{[]/.test(text) && isJson(text, bytes.length > MAX_JSON) ? "JSON" : null;
}

/** Reports whether a text is JSON. A truncated text is recognised by its start. */
function isJson(text: string, isCut: boolean): boolean {
  if (isCut) return /^(?:\{\s{0,100}"|\[\s{0,100}[{["\d])/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
