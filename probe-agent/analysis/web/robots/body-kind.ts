import { isHtml } from "#probe-agent/analysis/html/read-page.ts";

/** What came in the place of a robots.txt; null for plain text. */
type ForeignBody = "HTML" | "XML" | "JSON" | "UTF-16";

/** Octets looked at for a JSON text that is cut off there. */
const MAX_JSON = 64 * 1024;

/**
 * Recognises a body that is no robots.txt by its own look: servers that answer every address with 200 send their error
 * page, feed or API answer, with any Content-Type. A type of HTML alone is enough.
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

/** A large text is taken for JSON by its beginning. */
function isJson(text: string, isCut: boolean): boolean {
  if (isCut) return /^(?:\{\s{0,100}"|\[\s{0,100}[{["\d])/.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
