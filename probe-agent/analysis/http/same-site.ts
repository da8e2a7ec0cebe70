import { registrableDomain } from "#shared/internet/registrable-domain.ts";

/** Returns the site of a host: its registrable domain, or the host itself if it has none. */
export function siteOf(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return registrableDomain(bare) ?? bare;
}

/** Reports whether two hosts belong to the same site. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}
