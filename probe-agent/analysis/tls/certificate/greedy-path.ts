import { anchorsOf, entryOf, isSame, type Anchors, type Entry } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { comparisonBudget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate, CertificateInput } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { issuerFaults, leafFaults } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { isCurrent } from "#probe-agent/analysis/tls/certificate/validity.ts";

/**
 * TLS libraries that build one path and never backtrack. Measured with chains of cross-signed certificates in which the
 * bad certificate comes first: OpenSSL 3.0.22 (s_client, curl 7.88.1, Python 3.11.7) and 3.5.8 (Node.js 24.21.0);
 * GnuTLS 3.7.9 (gnutls-cli, Debian's wget 1.21.3). Browsers and Go search for another path.
 */
export type GreedyClient = "openssl" | "gnutls";

/** Input of findGreedyPath. */
interface GreedyPathRequest {
  readonly leaf: Certificate;
  /** Certificates sent after the leaf, in the order sent. */
  readonly sent: readonly Certificate[];
  readonly roots: readonly CertificateInput[];
  readonly now: Date;
}

/** The path that a greedy client builds. */
interface GreedyPath {
  /** Whether the client trusts this path. */
  readonly trusted: boolean;
  /** Issuers that the client selects, in path order. The last one is an anchor if the client reaches one. */
  readonly issuers: readonly Certificate[];
}

/** Maximum number of certificates in a path. */
const MAX_LENGTH = 12;

/**
 * Builds the path that a greedy client follows. At each step, the client searches its roots and then the certificates
 * sent, and selects an issuer by name and key identifier. It verifies signatures, dates and all other properties only
 * when the path is complete. OpenSSL prefers an issuer that is valid now (x509_vfy.c, build_chain). GnuTLS selects the
 * first candidate and ignores self-signed certificates that were sent.
 */
export function findGreedyPath(client: GreedyClient, { leaf, sent, roots, now }: GreedyPathRequest): GreedyPath {
  const anchors = anchorsOf(roots);
  const first = entryOf(leaf, false);
  let unused = distinct(sent, leaf).map((certificate) => entryOf(certificate, false));
  if (client === "gnutls") unused = unused.filter((entry) => entry.subjectKey !== entry.issuerKey);
  const path = [first];
  for (let top = first; path.length < MAX_LENGTH && !isSelfIssued(top);) {
    const next = findIssuer(top, unused, anchors, client, now);
    if (next === null) break;
    unused = unused.filter((entry) => entry !== next);
    path.push(next);
    top = next;
    if (next.isAnchor) break;
  }
  return { trusted: isTrusted(path, now), issuers: path.slice(1).map(({ certificate }) => certificate) };
}

function findIssuer(
  child: Entry,
  sent: readonly Entry[],
  anchors: Anchors,
  client: GreedyClient,
  now: Date,
): Entry | null {
  const mayHaveIssued = (issuer: Entry) =>
    issuer.subjectKey === child.issuerKey &&
    (child.authorityKeyId === null || issuer.subjectKeyId === null || child.authorityKeyId === issuer.subjectKeyId);
  const choose = (candidates: readonly Entry[]): Entry | null => {
    const [first] = candidates;
    if (first === undefined) return null;
    if (client === "gnutls") return first;
    const lastToExpire = candidates.toSorted((one, other) => expiryTime(other) - expiryTime(one));
    return candidates.find(({ certificate }) => isCurrent(certificate, now)) ?? lastToExpire[0] ?? first;
  };
  return choose(anchors.named(child.issuerKey).filter(mayHaveIssued)) ?? choose(sent.filter(mayHaveIssued));
}

function isTrusted(path: readonly Entry[], now: Date): boolean {
  const [leaf, ...issuers] = path;
  if (leaf === undefined || path.at(-1)?.isAnchor !== true) return false;
  const budget = comparisonBudget();
  return (
    leafFaults(leaf.certificate, now, false).length === 0 &&
    issuers.every((issuer, index) => {
      const below = path.slice(0, index + 1).map(({ certificate }) => certificate);
      const child = below.at(-1);
      const faults = issuerFaults(issuer.certificate, below, { now, isAnchor: issuer.isAnchor, budget });
      return faults.length === 0 && child !== undefined && isSignedBy(child, issuer.certificate);
    })
  );
}

function isSelfIssued({ subjectKey, issuerKey }: Entry): boolean {
  return subjectKey === issuerKey;
}

function expiryTime({ certificate }: Entry): number {
  return certificate.notAfter.getTime();
}

/** Removes copies of the leaf and repeated certificates. */
function distinct(sent: readonly Certificate[], leaf: Certificate): Certificate[] {
  const kept: Certificate[] = [];
  for (const certificate of sent) {
    if (![leaf, ...kept].some((other) => isSame(other, certificate))) kept.push(certificate);
  }
  return kept;
}
