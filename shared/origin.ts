/** Longest origin taken, characters. */
export const MAX_ORIGIN = 512;
// Scheme and authority, nothing behind: the URL parser would accept and drop what is more.
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\p{Cc}\s/\\?#@]+)$/iu;

/**
 * An origin as browsers send it (RFC 6454 section 6.2): "null", or scheme, host and port without a path; http and https
 * ones in normal form. Null for anything else.
 */
export function readOrigin(text: string): string | null {
  if (text === "null") return text;
  const [, scheme = "", authority = ""] = text.length > MAX_ORIGIN ? [] : (ORIGIN.exec(text) ?? []);
  if (scheme === "") return null;
  if (/^https?$/i.test(scheme)) return URL.parse(text)?.origin ?? null;
  return /^[!-~]+$/.test(authority) ? `${scheme.toLowerCase()}://${authority}` : null;
}
