import { getDomain } from "tldts";

/**
 * The registrable domain of a host by the public suffix list, its private part included, as browsers draw the line
 * between sites; null where it has none (an address, a public suffix).
 */
export function registrableDomain(host: string): string | null {
  return getDomain(host.toLowerCase(), { allowPrivateDomains: true });
}

/** The site of a host: its registrable domain, or the host itself where it has none. */
export function siteOf(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return registrableDomain(bare) ?? bare;
}

/** Whether two hosts belong to one site. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}
