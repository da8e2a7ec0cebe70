import type { FormatName } from "#control-plane/webhooks/formats/format.ts";
import { MASK } from "#control-plane/webhooks/secrets.ts";

/**
 * Returns the address of a webhook as people other than its owner may read it. Path and query of a provider's address are
 * a secret: who knows them can post there. The address of a standard receiver, which verifies signatures, is returned
 * without its query.
 */
export function maskAddress({ url, format }: { readonly url: string; readonly format: FormatName }): string {
  const { origin, pathname, search } = new URL(url);
  if (format !== "standard") return `${origin}/${MASK}`;
  return `${origin}${pathname}${search === "" ? "" : `?${MASK}`}`;
}
