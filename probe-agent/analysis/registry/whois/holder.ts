import { KEYS } from "#probe-agent/analysis/registry/whois/keys.ts";
import type { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";

/** Holder of the name, if the registry shows it. */
export interface WhoisHolder {
  readonly org: string | null;
  /** As registered, mostly ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** Whether the registry says that it withholds the holder. */
  readonly redacted: boolean;
}

const BLOCK = /^(?:registrant|holder|holder of domain name|owner)(?: contact)?$/;

const REDACTED =
  /redacted|not disclosed|withheld|data protected|gdpr|not shown|hidden|non-?public|statutory masking|masked|<data not|privacy service|not available/i;

/** Privacy services that are registered in place of the real holder. */
const PROXIES =
  /\bprivacy|\bproxy\b|whois ?guard|domains by proxy|contact privacy|whois ?agent|perfect privacy|identity protect|private by design|super privacy|see privacyguardian|data privacy|anonymi[sz]e|whoisprivacy/i;

/** Reports whether a registered text says that data is withheld. */
export function isRedacted(text: string): boolean {
  return REDACTED.test(text.slice(0, 300));
}

/** Reports whether an organization is a privacy service that hides the real holder. */
export function isPrivacyService(organization: string): boolean {
  return PROXIES.test(organization.slice(0, 300));
}

/** Reports whether a text is a key in place of a name ("SB:ABC-123", "holder0001"), which is of no use to a reader. */
function isHandle(text: string): boolean {
  return !/\s/.test(text) && /^[A-Z]{1,4}:.|\d/i.test(text);
}

/** Removes a contact's key and email address after a name: "Example SA  (ex1-handle)    mail@example.net". */
function withoutHandle(text: string): string {
  const end = text.indexOf("  (");
  return end < 1 ? text : text.slice(0, end).trimEnd();
}

/** Reads the holder. Returns null if the answer contains nothing about a holder. */
export function readHolder(fields: WhoisFields): WhoisHolder | null {
  const stated = [
    fields.first(["registrant organization", "registrant organisation", "registrant company"]),
    fields.first(KEYS.company, BLOCK),
    fields.first(["organization", "org"], /^$/),
    ...KEYS.holder.map((key) => fields.first([key])),
    fields.first(["name"], BLOCK),
  ]
    .filter((value) => value !== null)
    .map(withoutHandle);
  const country =
    fields.first(["registrant country", "registrant country/economy"]) ?? fields.first(["country"], BLOCK);
  const usable = stated.find((value) => !isRedacted(value) && !isHandle(value));
  const redacted = stated.some(isRedacted) || (country !== null && isRedacted(country));
  if (usable === undefined && country === null && !redacted) return null;
  return {
    org: usable ?? null,
    country: country === null || isRedacted(country) ? null : country,
    redacted,
  };
}
