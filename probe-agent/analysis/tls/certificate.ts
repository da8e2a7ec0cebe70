import { anchorsOf, entryOf, isSame } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { matchesHost } from "#probe-agent/analysis/tls/certificate/hostname.ts";
import {
  parseCertificate,
  toDer,
  type Certificate,
  type CertificateInput,
} from "#probe-agent/analysis/tls/certificate/parse.ts";
import { findPath } from "#probe-agent/analysis/tls/certificate/path.ts";
import { TRUST_ERRORS, type TrustError } from "#probe-agent/analysis/tls/certificate/policy.ts";

/** Input of verifyChain. Each PEM text can hold several certificates. */
export interface ChainRequest {
  readonly leaf: CertificateInput;
  /** All other certificates that the server sent, in any order. */
  readonly intermediates: readonly CertificateInput[];
  /** Trust anchors. The same array is parsed only once. */
  readonly roots: readonly CertificateInput[];
  /** A DNS name or an IP literal. */
  readonly host: string;
  readonly now: Date;
}

/** Result of verifyChain, as a current browser decides. */
export interface ChainVerification {
  /** Whether the chain leads to a root and is valid for a server. Independent of the host name. */
  readonly trusted: boolean;
  readonly hostname_match: boolean;
  /** All faults, most severe first. Empty if the certificate is trusted and matches the host name. */
  readonly errors: TrustError[];
  /** The path found, leaf first; partial if no root was reached. Empty if the leaf cannot be parsed. */
  readonly path: readonly Certificate[];
  /** Whether the path ends in one of the roots, regardless of other faults. */
  readonly anchored: boolean;
}

/** Maximum number of intermediates used; servers send fewer than ten. */
const MAX_INTERMEDIATES = 100;

/**
 * Verifies a server's chain: path building (RFC 4158), path validation (RFC 5280 section 6, without revocation), names
 * (RFC 9525), the key sizes and hashes that browsers require (RSA 2048, no SHA-1 below a root), and the form rules that
 * Chrome, Firefox, Go or OpenSSL enforce by default. If several paths exist, one path without faults is enough. Dates,
 * key sizes and form rules apply to roots too.
 */
export function verifyChain({ leaf, intermediates, roots, host, now }: ChainRequest): ChainVerification {
  const [leafDer] = toDer(leaf);
  const certificate = leafDer ? parseCertificate(leafDer) : null;
  if (!certificate) return { trusted: false, hostname_match: false, errors: ["malformed"], path: [], anchored: false };
  const others = distinct(toDer(intermediates).slice(0, MAX_INTERMEDIATES), certificate);
  const found = findPath({
    leaf: entryOf(certificate, false),
    intermediates: others.map((other) => entryOf(other, false)),
    anchors: anchorsOf(roots),
    now,
  });
  const nameMatches = matchesHost(certificate, host);
  const faults = new Set<TrustError>(found.faults);
  if (!nameMatches) faults.add("hostname_mismatch");
  return {
    trusted: found.faults.length === 0,
    hostname_match: nameMatches,
    errors: TRUST_ERRORS.filter((error) => faults.has(error)),
    path: found.entries.map((entry) => entry.certificate),
    anchored: found.entries.at(-1)?.isAnchor === true,
  };
}

/** Parses the certificates. Omits those that cannot be parsed, copies of the leaf, and repeats. */
function distinct(ders: readonly Uint8Array[], leaf: Certificate): Certificate[] {
  const kept: Certificate[] = [];
  for (const der of ders) {
    const certificate = parseCertificate(der);
    if (certificate && ![leaf, ...kept].some((other) => isSame(other, certificate))) kept.push(certificate);
  }
  return kept;
}
