import { resolveUrl } from "#probe-agent/analysis/http/address.ts";

/** Longest URL that is taken from a page, characters; net/http follows no longer Location either. */
const MAX_URL_CHARS = 8192;

/** The text as a URL of the web, resolved against `base`; null for any other, and for one nobody would write. */
export function webUrl(text: string, base: string): URL | null {
  const url = resolveUrl(text, base);
  if (url === null || url.href.length > MAX_URL_CHARS) return null;
  return url.protocol === "http:" || url.protocol === "https:" ? url : null;
}

/** A URL without its fragment, which is never sent: two that differ in it are one request. */
export function withoutFragment(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}
