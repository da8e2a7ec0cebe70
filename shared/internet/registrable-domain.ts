import { getDomain, getPublicSuffix } from "tldts";

// Uses the library's copy of the public suffix list. IP addresses have neither domain nor suffix.

/**
 * Includes the private part of the list: like browsers, it treats customers of one hosting provider as separate sites.
 * Names that no host can have (`*.example.com`) are accepted too.
 */
const BY_CUSTOMER = { allowPrivateDomains: true, validateHostname: false } as const;
/** RFC 1035, section 2.3.4, as text. */
const LONGEST_NAME = 253;

/**
 * Returns the registrable domain of a name in lower case; null if it has none (an address, a public suffix, or no
 * name).
 */
export function registrableDomain(name: string | null): string | null {
  return name === null || name.length > LONGEST_NAME ? null : getDomain(name, BY_CUSTOMER);
}

/** Returns the domain of a name as registered at a registry, without the list's private part; null as above. */
export function registeredDomain(name: string): string | null {
  return getDomain(name, { ...BY_CUSTOMER, allowPrivateDomains: false });
}

/** Reports whether different owners can register names directly below a domain. */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, BY_CUSTOMER) === domain;
}
