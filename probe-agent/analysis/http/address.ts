/** Resolves an address against a base. Returns null if the result is not a URL. */
export function resolveUrl(address: string, base: string): URL | null {
  return URL.parse(address, base);
}

/** Maximum length of an address in a result, in characters. A longer one helps no reader. */
const MAX_ADDRESS = 2048;

/** Resolves an address for a result. Returns null if it is not a URL or is too long to be shown whole. */
export function resolveAddress(address: string, base: string): string | null {
  const url = address.length > MAX_ADDRESS ? null : resolveUrl(address, base);
  return url === null || url.href.length > MAX_ADDRESS ? null : url.href;
}

/** Returns the base of a page's relative addresses: its base element, which is itself relative to the page's URL. */
export function documentBase(baseHref: string | null, pageUrl: string): string {
  return resolveUrl(baseHref ?? "", pageUrl)?.href ?? pageUrl;
}
