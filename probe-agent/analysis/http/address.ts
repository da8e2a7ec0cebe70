/** An address resolved against a base, null where it is no URL. */
export function resolveUrl(address: string, base: string): URL | null {
  return URL.parse(address, base);
}

/** Longest address a result shows, characters; a longer one is of no use to anybody. */
const MAX_ADDRESS = 2048;

/** An address resolved for a result; null where it is no URL, or too long to be shown whole. */
export function resolveAddress(address: string, base: string): string | null {
  const url = address.length > MAX_ADDRESS ? null : resolveUrl(address, base);
  return url === null || url.href.length > MAX_ADDRESS ? null : url.href;
}

/** What relative addresses of a page count from: its base element, itself relative to the page's URL. */
export function documentBase(baseHref: string | null, pageUrl: string): string {
  return resolveUrl(baseHref ?? "", pageUrl)?.href ?? pageUrl;
}
