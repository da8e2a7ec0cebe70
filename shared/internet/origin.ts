/** Maximum length of an origin in characters. */
export const MAX_ORIGIN = 512;
// Only scheme and authority. The URL parser would accept and drop anything after them.
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\p{Cc}\s/\\?#@]+)$/iu;

/**
 * Parses an origin as browsers send it (RFC 6454 section 6.2): "null", or scheme, host and port without a path. http
 * and https origins are normalized. Returns null for anything else.
 */
export function readOrigin(text: string): string | null {
  if (text === "null") return text;
  const [, scheme = "", authority = ""] = text.length > MAX_ORIGIN ? [] : (ORIGIN.exec(text) ?? []);
  if (scheme === "") return null;
  if (/^https?$/i.test(scheme)) return URL.parse(text)?.origin ?? null;
  return /^[!-~]+$/.test(authority) ? `${scheme.toLowerCase()}://${authority}` : null;
}
