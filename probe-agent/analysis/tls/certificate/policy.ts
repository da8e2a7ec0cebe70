import { isSameOctets } from "#shared/text/same-octets.ts";
import { isWithinConstraints, type Budget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { basicConstraints, EXTENSION, keyUsages } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { formFaults } from "#probe-agent/analysis/tls/certificate/form.ts";
import { isStrongKey, isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { hasValidPolicy } from "#probe-agent/analysis/tls/certificate/policies.ts";
import { isExpired, isNotYetValid } from "#probe-agent/analysis/tls/certificate/validity.ts";

/**
 * Codes of faults that make a chain untrusted, most severe first. The less common codes mean: `malformed` a certificate
 * is not DER or breaks a form rule; `bad_signature` a signature does not verify; `not_a_ca` an issuer is not allowed to
 * issue; `path_too_long` and `name_constraints` an authority's limits are exceeded; `no_valid_policy` a required
 * certificate policy is missing; `wrong_usage` a certificate is not allowed for a server; `unknown_critical_extension`
 * clients do not understand a critical extension.
 */
export const TRUST_ERRORS = [
  "malformed",
  "expired",
  "not_yet_valid",
  "self_signed",
  "missing_intermediate",
  "untrusted_root",
  "bad_signature",
  "not_a_ca",
  "path_too_long",
  "name_constraints",
  "no_valid_policy",
  "wrong_usage",
  "unknown_critical_extension",
  "weak_signature",
  "weak_key",
  "revoked",
  "hostname_mismatch",
] as const;

/** Code of a fault that makes a chain untrusted. */
export type TrustError = (typeof TRUST_ERRORS)[number];

/** Finds the faults of the server's own certificate. A weak signature is no fault if the certificate is an anchor. */
export function leafFaults(leaf: Certificate, now: Date, isAnchor: boolean): TrustError[] {
  return orMalformed(() => {
    const faults = commonFaults(leaf, { now, isLeaf: true, isAnchor });
    const serves = keyUsages(leaf)?.some((usage) => SERVER_USAGES.has(usage)) ?? true;
    if (!serves) faults.push("wrong_usage");
    // Only authorities are allowed to have name constraints (RFC 5280 section 4.2.1.10).
    const isAuthority = basicConstraints(leaf)?.ca ?? false;
    if (leaf.extensions.has(EXTENSION.nameConstraints) && !isAuthority) faults.push("name_constraints");
    return faults;
  });
}

/** Key usages; a TLS server needs at least one of them (RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.2). */
const SERVER_USAGES: ReadonlySet<string> = new Set(["digitalSignature", "keyEncipherment", "keyAgreement"]);

/**
 * Finds the faults of an authority's certificate (RFC 5280 section 6.1.4). `below` is the path below it, leaf first.
 * The same rules apply to an anchor, except that its own signature is not checked and a root of version 1 or 2 needs no
 * basicConstraints.
 */
export function issuerFaults(
  authority: Certificate,
  below: readonly Certificate[],
  options: { readonly now: Date; readonly isAnchor: boolean; readonly budget: Budget },
): TrustError[] {
  return orMalformed(() => {
    const faults = commonFaults(authority, { now: options.now, isLeaf: false, isAnchor: options.isAnchor });
    const constraints = basicConstraints(authority);
    const oldRoot = options.isAnchor && authority.version < 3;
    const certSign = keyUsages(authority)?.includes("keyCertSign") ?? true;
    if (!certSign || (constraints ? !constraints.ca : !oldRoot)) faults.push("not_a_ca");
    const counted = below.slice(1).filter(({ subject, issuer }) => !isSameOctets(subject, issuer)).length;
    if (counted > (constraints?.pathLength ?? Infinity)) faults.push("path_too_long");
    if (!isWithinConstraints(authority, below, options.budget)) faults.push("name_constraints");
    if (options.isAnchor && !hasValidPolicy(below)) faults.push("no_valid_policy");
    return faults;
  });
}

function commonFaults(
  certificate: Certificate,
  { now, isLeaf, isAnchor }: { readonly now: Date; readonly isLeaf: boolean; readonly isAnchor: boolean },
): TrustError[] {
  const faults = new Set<TrustError>(formFaults(certificate, { isLeaf, isAnchor }).map(({ error }) => error));
  if (isExpired(certificate, now)) faults.add("expired");
  if (isNotYetValid(certificate, now)) faults.add("not_yet_valid");
  if (!isAnchor && isWeakSignature(certificate)) faults.add("weak_signature");
  if (!isStrongKey(certificate)) faults.add("weak_key");
  return [...faults];
}

/** Returns the faults that `find` returns, or `malformed` if an extension cannot be read. */
function orMalformed(find: () => TrustError[]): TrustError[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof MalformedDer) return ["malformed"];
    throw error;
  }
}
