import { isSameOctets } from "#shared/same-octets.ts";
import { isWithinConstraints, type Budget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { basicConstraints, EXTENSION, keyUsages } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { formFaults } from "#probe-agent/analysis/tls/certificate/form.ts";
import { isStrongKey, isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { hasValidPolicy } from "#probe-agent/analysis/tls/certificate/policies.ts";
import { isExpired, isNotYetValid } from "#probe-agent/analysis/tls/certificate/validity.ts";

/**
 * Words for what is wrong with a chain, the gravest first. The first words name the everyday faults; the
 * others say what those cannot: a certificate that is not DER, a signature that does not verify, an authority that may
 * not issue, a chain too long, names outside an authority's constraints, no right to act as a server, and a critical
 * extension that is not understood.
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

/** One of the words. */
export type TrustError = (typeof TRUST_ERRORS)[number];

/** Faults of the server's own certificate, its signature's strength included unless it is an anchor itself. */
export function leafFaults(leaf: Certificate, now: Date, isAnchor: boolean): TrustError[] {
  return judged(() => {
    const faults = commonFaults(leaf, { now, isLeaf: true, isAnchor });
    const serves = keyUsages(leaf)?.some((usage) => SERVER_USAGES.has(usage)) ?? true;
    if (!serves) faults.push("wrong_usage");
    // RFC 5280 section 4.2.1.10: only for authorities.
    const isAuthority = basicConstraints(leaf)?.ca ?? false;
    if (leaf.extensions.has(EXTENSION.nameConstraints) && !isAuthority) faults.push("name_constraints");
    return faults;
  });
}

/** Key usages of which a TLS server needs one (RFC 5246 section 7.4.2, RFC 8446 section 4.4.2.2). */
const SERVER_USAGES: ReadonlySet<string> = new Set(["digitalSignature", "keyEncipherment", "keyAgreement"]);

/**
 * Faults of an authority as issuer of a chain: `below` holds what it vouches for, leaf first (RFC 5280 section 6.1.4).
 * An anchor is held to the same rules, but for its own signature; a root of version 1 or 2 needs no basicConstraints.
 */
export function issuerFaults(
  authority: Certificate,
  below: readonly Certificate[],
  options: { readonly now: Date; readonly isAnchor: boolean; readonly budget: Budget },
): TrustError[] {
  return judged(() => {
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

/** The faults, or that an extension could not even be read. */
function judged(judge: () => TrustError[]): TrustError[] {
  try {
    return judge();
  } catch (error) {
    if (error instanceof MalformedDer) return ["malformed"];
    throw error;
  }
}
