import { resolveUrl } from "#probe-agent/analysis/http/address.ts";

/** Maximum length of a URL from a page, in characters. The limit of net/http for Location is the same. */
const MAX_URL_CHARS = 8192;

/** Resolves a text to an http or https URL. Returns null for other schemes, invalid URLs and URLs that are too long. */
export function webUrl(text: string, base: string): URL | null {
  const url = resolveUrl(text, base);
  if (url === null || url.href.length > MAX_URL_CHARS) return null;
  return url.protocol === "http:" || url.protocol === "https:" ? url : null;
}

/** Returns a URL without its fragment. The fragment is never sent, so URLs that differ only in it are one request. */
export function withoutFragment(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}
