import { getDomain, getPublicSuffix } from "tldts";

// The public suffix list as the library carries it. Addresses have neither domain nor suffix.

/**
 * With the list's private part: customers of one host are strangers to each other, as browsers draw the line. Names that
 * no host can have (`*.example.com`) belong to somebody as well.
 */
const BY_CUSTOMER = { allowPrivateDomains: true, validateHostname: false } as const;
/** RFC 1035, section 2.3.4, as text. */
const LONGEST_NAME = 253;

/** The registrable domain of a name, lower case; null where it has none (an address, a public suffix, no name at all). */
export function registrableDomain(name: string | null): string | null {
  return name === null || name.length > LONGEST_NAME ? null : getDomain(name, BY_CUSTOMER);
}

/** The domain of a name as it is registered at a registry: without the list's private part. Null as above. */
export function registeredDomain(name: string): string | null {
  return getDomain(name, { ...BY_CUSTOMER, allowPrivateDomains: false });
}

/** Whether strangers can have names right below a domain. */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, BY_CUSTOMER) === domain;
}
