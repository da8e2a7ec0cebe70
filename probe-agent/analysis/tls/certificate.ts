import { anchorsOf, entryOf, isSame, type Anchors, type Entry } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { matchesHost } from "#probe-agent/analysis/tls/certificate/hostname.ts";
import {
  parseCertificate,
  toDer,
  type Certificate,
  type CertificateInput,
} from "#probe-agent/analysis/tls/certificate/parse.ts";
import {
  TRUST_ERRORS,
  type TrustError,
  issuerFaults,
  leafFaults,
} from "#probe-agent/analysis/tls/certificate/policy.ts";
import { comparisonBudget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";

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

/** A certification path with its faults. The leaf is first; an anchor is last if one was reached. */
interface Path {
  readonly entries: readonly Entry[];
  readonly faults: readonly TrustError[];
}

/** Input of findPath. */
interface PathRequest {
  readonly leaf: Entry;
  readonly intermediates: readonly Entry[];
  readonly anchors: Anchors;
  readonly now: Date;
}

/** Maximum number of certificates in a path, including leaf and anchor. */
const MAX_LENGTH = 12;
/** Maximum number of candidates in one search, far above what any real set of cross-signed certificates needs. */
const MAX_STEPS = 2000;
/** Maximum number of signatures verified in one search. */
const MAX_SIGNATURES = 200;

/**
 * Finds a path without faults if one exists, regardless of the order of the intermediates and of dead ends, loops and
 * expired cross-signed certificates among them (RFC 4158). Otherwise returns the best path with its faults.
 */
function findPath(request: PathRequest): Path {
  const { leaf, anchors, now } = request;
  const isAnchor = anchors.has(leaf.certificate);
  const faults = leafFaults(leaf.certificate, now, isAnchor);
  if (isAnchor) return { entries: [{ ...leaf, isAnchor }], faults };
  if (faults.length === 0) {
    const clean = findCleanPath([leaf], createSearch(request));
    if (clean) return { entries: clean, faults: [] };
  }
  return findBestPath({ entries: [leaf], faults }, createSearch(request));
}

interface Search {
  /** Returns possible issuers by name that are not in the path, the most likely first. */
  candidates(path: readonly Entry[]): readonly Entry[];
  /** Returns the faults of an issuer as the next certificate of the path. */
  faults(issuer: Entry, path: readonly Entry[]): readonly TrustError[];
  /** Reports whether the issuer signed the child; false when the maximum number of signatures is reached. */
  isSigned(child: Entry, issuer: Entry): boolean;
}

/** Creates the functions of one search. They share its limits. */
function createSearch({ intermediates, anchors, now }: PathRequest): Search {
  const budget = comparisonBudget();
  const knownSignatures = new Map<Entry, Map<string, boolean>>();
  const distance = (child: Entry, issuer: Entry): number => {
    const stepsToAnchor = anchors.named(issuer.issuerKey).length > 0 ? 1 : 2;
    return keyIdDistance(child, issuer) * 3 + (issuer.isAnchor ? 0 : stepsToAnchor);
  };
  let steps = MAX_STEPS;
  let signatures = MAX_SIGNATURES;
  return {
    candidates(path) {
      const child = last(path);
      if (path.length >= MAX_LENGTH) return [];
      const named = intermediates.filter(({ subjectKey }) => subjectKey === child.issuerKey);
      const fresh = [...anchors.named(child.issuerKey), ...named].filter((issuer) => !isLoop(path, issuer));
      steps -= fresh.length;
      return steps < 0 ? [] : fresh.toSorted((one, other) => distance(child, one) - distance(child, other));
    },
    faults: ({ certificate, isAnchor }, path) =>
      issuerFaults(
        certificate,
        path.map((entry) => entry.certificate),
        { now, isAnchor, budget },
      ),
    isSigned(child, issuer) {
      const known = knownSignatures.get(child)?.get(issuer.publicKey);
      if (known !== undefined) return known;
      signatures -= 1;
      const isValid = signatures >= 0 && isSignedBy(child.certificate, issuer.certificate);
      const row = knownSignatures.get(child) ?? new Map<string, boolean>();
      knownSignatures.set(child, row.set(issuer.publicKey, isValid));
      return isValid;
    },
  };
}

function findCleanPath(path: readonly Entry[], search: Search): readonly Entry[] | null {
  for (const issuer of search.candidates(path)) {
    if (search.faults(issuer, path).length > 0 || !search.isSigned(last(path), issuer)) continue;
    const longer = [...path, issuer];
    const complete = issuer.isAnchor ? longer : findCleanPath(longer, search);
    if (complete) return complete;
  }
  return null;
}

function findBestPath(path: Path, search: Search): Path {
  const candidates = search.candidates(path.entries);
  const signers = candidates.filter((issuer) => search.isSigned(last(path.entries), issuer));
  if (signers.length === 0) return withFault(path, missingIssuerFault(path.entries, candidates.length > 0, search));
  return signers
    .map((issuer) => {
      const faults = [...new Set([...path.faults, ...search.faults(issuer, path.entries)])];
      const longer = { entries: [...path.entries, issuer], faults };
      return issuer.isAnchor ? longer : findBestPath(longer, search);
    })
    .reduce((best, other) => (isBetter(other, best) ? other : best));
}

/** Returns why the issuer of the last certificate is unavailable. */
function missingIssuerFault(path: readonly Entry[], hasCandidates: boolean, search: Search): TrustError {
  const end = last(path);
  const isLeaf = path.length === 1;
  if (end.subjectKey === end.issuerKey && search.isSigned(end, end)) {
    return isLeaf ? "self_signed" : "untrusted_root";
  }
  if (hasCandidates) return "bad_signature";
  // If the issuer of an authority is unknown, a second intermediate is missing or the root is unknown. The latter is
  // more likely.
  return isLeaf ? "missing_intermediate" : "untrusted_root";
}

/** Reports whether a path is better: it reaches an anchor, has fewer faults, or is longer, in this order. */
function isBetter(one: Path, other: Path): boolean {
  const anchored = Number(last(one.entries).isAnchor) - Number(last(other.entries).isAnchor);
  if (anchored !== 0) return anchored > 0;
  if (one.faults.length !== other.faults.length) return one.faults.length < other.faults.length;
  return one.entries.length > other.entries.length;
}

function withFault({ entries, faults }: Path, fault: TrustError): Path {
  return { entries, faults: [...new Set([...faults, fault])] };
}

/**
 * Reports whether an issuer would create a loop: the path already has a certificate with the same name and key (RFC
 * 4158 section 2.4.2).
 */
function isLoop(path: readonly Entry[], issuer: Entry): boolean {
  return path.some(({ subjectKey, publicKey }) => subjectKey === issuer.subjectKey && publicKey === issuer.publicKey);
}

/**
 * Returns 0 if the key identifiers match, 1 if one is unknown, 2 if they differ. They only sort candidates (RFC 4158
 * section 3.5.12).
 */
function keyIdDistance(child: Entry, issuer: Entry): number {
  if (child.authorityKeyId === null || issuer.subjectKeyId === null) return 1;
  return child.authorityKeyId === issuer.subjectKeyId ? 0 : 2;
}

function last(path: readonly Entry[]): Entry {
  const entry = path.at(-1);
  if (!entry) throw new Error("a path holds at least its leaf");
  return entry;
}
