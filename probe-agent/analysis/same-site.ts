import { getDomain } from "tldts";

/**
 * The registrable domain of a host by the public suffix list, its private part included, as browsers draw the line
 * between sites; the host itself where it has none (an address, a public suffix).
 */
export function siteOf(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return getDomain(bare, { allowPrivateDomains: true }) ?? bare;
}

/** Whether two hosts belong to one site. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}
