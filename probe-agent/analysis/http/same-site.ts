import { registrableDomain } from "#shared/registrable-domain.ts";

/** The site of a host: its registrable domain, or the host itself where it has none. */
export function siteOf(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return registrableDomain(bare) ?? bare;
}

/** Whether two hosts belong to one site. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}
