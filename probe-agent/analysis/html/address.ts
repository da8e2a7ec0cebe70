/** An address resolved against a base, null where it is no URL. */
export function resolveUrl(address: string, base: string): URL | null {
  return URL.canParse(address, base) ? new URL(address, base) : null;
}

/** What relative addresses of a page count from: its base element, itself relative to the page's URL. */
export function documentBase(baseHref: string | null, pageUrl: string): string {
  return resolveUrl(baseHref ?? "", pageUrl)?.href ?? pageUrl;
}
