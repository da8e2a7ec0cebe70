import { anchorsOf, entryOf, isSame, type Anchors, type Entry } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { comparisonBudget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate, CertificateInput } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { issuerFaults, leafFaults } from "#probe-agent/analysis/tls/certificate/policy.ts";
import { isCurrent } from "#probe-agent/analysis/tls/certificate/validity.ts";

/**
 * Libraries that follow one path and never go back. Measured with chains of cross-signed certificates, the bad one first:
 * OpenSSL 3.0.22 (s_client, curl 7.88.1, Python 3.11.7) and 3.5.8 (Node.js 24.21.0); GnuTLS 3.7.9 (gnutls-cli, Debian's
 * wget 1.21.3). Browsers and Go look for another path.
 */
export type GreedyClient = "openssl" | "gnutls";

/** What a chain is looked at with. */
interface GreedyPathRequest {
  readonly leaf: Certificate;
  /** The others, in the order sent. */
  readonly sent: readonly Certificate[];
  readonly roots: readonly CertificateInput[];
  readonly now: Date;
}

/** Where such a client turns off, and what it makes of it. */
interface GreedyPath {
  readonly trusted: boolean;
  /** The issuers it takes, in order; an anchor last where one was reached. */
  readonly issuers: readonly Certificate[];
}

/** Certificates in a path. */
const MAX_LENGTH = 12;

/**
 * The path that a client takes which, at each step, looks among its roots and then among the certificates sent, chooses
 * one by name and key identifier, and verifies signatures, dates and the rest only at the end. OpenSSL prefers one whose
 * dates are good (x509_vfy.c, build_chain); GnuTLS takes the first and leaves self-signed ones out.
 */
export function findGreedyPath(client: GreedyClient, { leaf, sent, roots, now }: GreedyPathRequest): GreedyPath {
  const anchors = anchorsOf(roots);
  const first = entryOf(leaf, false);
  let left = distinct(sent, leaf).map((certificate) => entryOf(certificate, false));
  if (client === "gnutls") left = left.filter((entry) => entry.subjectKey !== entry.issuerKey);
  const path = [first];
  for (let top = first; path.length < MAX_LENGTH && !isSelfIssued(top);) {
    const next = issuerOf(top, left, anchors, client, now);
    if (next === null) break;
    left = left.filter((entry) => entry !== next);
    path.push(next);
    top = next;
    if (next.isAnchor) break;
  }
  return { trusted: isGood(path, now), issuers: path.slice(1).map(({ certificate }) => certificate) };
}

function issuerOf(
  child: Entry,
  sent: readonly Entry[],
  anchors: Anchors,
  client: GreedyClient,
  now: Date,
): Entry | null {
  const fits = (issuer: Entry) =>
    issuer.subjectKey === child.issuerKey &&
    (child.authorityKeyId === null || issuer.subjectKeyId === null || child.authorityKeyId === issuer.subjectKeyId);
  const choose = (candidates: readonly Entry[]): Entry | null => {
    const [first] = candidates;
    if (first === undefined) return null;
    if (client === "gnutls") return first;
    const lasting = candidates.toSorted((one, other) => end(other) - end(one));
    return candidates.find(({ certificate }) => isCurrent(certificate, now)) ?? lasting[0] ?? first;
  };
  return choose(anchors.named(child.issuerKey).filter(fits)) ?? choose(sent.filter(fits));
}

function isGood(path: readonly Entry[], now: Date): boolean {
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

function end({ certificate }: Entry): number {
  return certificate.notAfter.getTime();
}

/** Repeats of the leaf or of another one are left out. */
function distinct(sent: readonly Certificate[], leaf: Certificate): Certificate[] {
  const kept: Certificate[] = [];
  for (const certificate of sent) {
    if (![leaf, ...kept].some((other) => isSame(other, certificate))) kept.push(certificate);
  }
  return kept;
}
