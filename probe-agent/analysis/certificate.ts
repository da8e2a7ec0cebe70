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

/** What a chain is verified with; certificates as PEM text (one or several in each) or DER. */
export interface ChainRequest {
  readonly leaf: CertificateInput;
  /** Whatever else the server sent, in any order. */
  readonly intermediates: readonly CertificateInput[];
  /** The only anchors; hand in the same array again and it is parsed once. */
  readonly roots: readonly CertificateInput[];
  /** A DNS name or an IP literal. */
  readonly host: string;
  readonly now: Date;
}

/** What a current browser would say. */
export interface ChainVerification {
  /** The chain leads to a root and is good for a server; says nothing of the name. */
  readonly trusted: boolean;
  readonly hostname_match: boolean;
  /** All faults, the gravest first; empty when trusted and hostname_match. */
  readonly errors: TrustError[];
  /** The path found, leaf first, or as far as it goes; empty for a leaf that is no certificate. */
  readonly path: readonly Certificate[];
  /** The path ends in one of the roots, whatever else is wrong with it. */
  readonly anchored: boolean;
}

/** Intermediates looked at; servers send fewer than ten. */
const MAX_INTERMEDIATES = 100;

/**
 * Verifies a server's chain: path building (RFC 4158), path validation (RFC 5280 section 6, without
 * revocation), names (RFC 9525), the key sizes and hashes of the web (RSA 2048, no SHA-1 below a root), and the rules of form
 * that any of Chrome, Firefox, Go and OpenSSL enforces by default. Of several paths any good one counts. Dates, key sizes
 * and form bind roots too.
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

/** The readable ones, each once and without the leaf. */
function distinct(ders: readonly Uint8Array[], leaf: Certificate): Certificate[] {
  const kept: Certificate[] = [];
  for (const der of ders) {
    const certificate = parseCertificate(der);
    if (certificate && ![leaf, ...kept].some((other) => isSame(other, certificate))) kept.push(certificate);
  }
  return kept;
}
