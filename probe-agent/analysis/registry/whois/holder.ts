import { KEYS } from "#probe-agent/analysis/registry/whois/keys.ts";
import type { WhoisFields } from "#probe-agent/analysis/registry/whois/fields.ts";

/** Who has the name, as far as registries tell. */
export interface WhoisHolder {
  readonly org: string | null;
  /** As registered, mostly ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** The registry says that it withholds who it is. */
  readonly redacted: boolean;
}

const BLOCK = /^(?:registrant|holder|holder of domain name|owner)(?: contact)?$/;

const REDACTED =
  /redacted|not disclosed|withheld|data protected|gdpr|not shown|hidden|non-?public|statutory masking|masked|<data not|privacy service|not available/i;

/** Services that stand as the holder in the place of the holder. */
const PROXIES =
  /\bprivacy|\bproxy\b|whois ?guard|domains by proxy|contact privacy|whois ?agent|perfect privacy|identity protect|private by design|super privacy|see privacyguardian|data privacy|anonymi[sz]e|whoisprivacy/i;

/** Whether a registered text says that the truth is withheld. */
export function isRedacted(text: string): boolean {
  return REDACTED.test(text.slice(0, 300));
}

/** Whether an organization hides others behind its name. */
export function isPrivacyService(organization: string): boolean {
  return PROXIES.test(organization.slice(0, 300));
}

/** A key in place of a name ("SB:ABC-123", "holder0001") says nothing to a reader. */
function isHandle(text: string): boolean {
  return !/\s/.test(text) && /^[A-Z]{1,4}:.|\d/i.test(text);
}

/** "Example SA  (ex1-handle)    mail@example.net": the key of a contact and its address are not part of the name. */
function withoutHandle(text: string): string {
  const end = text.indexOf("  (");
  return end < 1 ? text : text.slice(0, end).trimEnd();
}

/** Null where the answer has nothing about a holder. */
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
