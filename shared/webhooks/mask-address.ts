/** Shown in place of what is secret. */
const MASK = "****";

/**
 * Returns the address of a webhook as people other than its owner may read it. Path and query of a provider's address are
 * a secret: who knows them can post there. The address of a standard receiver, which verifies signatures, is returned
 * without its query. Throws if `url` is no URL.
 */
export function maskAddress({ url, format }: { readonly url: string; readonly format: string }): string {
  const { origin, pathname, search } = new URL(url);
  if (format !== "standard") return `${origin}/${MASK}`;
  return `${origin}${pathname}${search === "" ? "" : `?${MASK}`}`;
}
