import { smallInteger, TAG, type Der } from "#probe-agent/analysis/tls/certificate/der.ts";

/** Codes of CRLReason by number (RFC 5280 section 5.3.1). Number 7 is not used. */
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

/** Returns the code of a CRLReason; `unspecified` for an unassigned number. Throws MalformedDer. */
export function reasonOf(value: Der): string {
  return REASONS[smallInteger(value, TAG.enumerated)] ?? "unspecified";
}
