import { smallInteger, TAG, type Der } from "#probe-agent/analysis/tls/certificate/der.ts";

/** CRLReason by its number (RFC 5280 section 5.3.1); 7 is not used. */
const REASONS: readonly (string | undefined)[] = [
  "unspecified",
  "key_compromise",
  "ca_compromise",
  "affiliation_changed",
  "superseded",
  "cessation_of_operation",
  "certificate_hold",
  undefined,
  "remove_from_crl",
  "privilege_withdrawn",
  "aa_compromise",
];

/** The word for a CRLReason; a number nobody has given a meaning counts as unspecified. Throws MalformedDer. */
export function reasonOf(value: Der): string {
  return REASONS[smallInteger(value, TAG.enumerated)] ?? "unspecified";
}
