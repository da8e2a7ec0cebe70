import type { Anchors, Entry } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { comparisonBudget } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { isSignedBy } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { issuerFaults, leafFaults, type TrustError } from "#probe-agent/analysis/tls/certificate/policy.ts";

/** A certification path: the leaf first, an anchor last where one was reached, and all that is wrong with it. */
interface Path {
  readonly entries: readonly Entry[];
  readonly faults: readonly TrustError[];
}

/** What a search works on. */
interface PathRequest {
  readonly leaf: Entry;
  readonly intermediates: readonly Entry[];
  readonly anchors: Anchors;
  readonly now: Date;
}

/** Certificates in a path, leaf and anchor included. */
const MAX_LENGTH = 12;
/** Candidates looked at and signatures verified over one search; far above what any real mesh of cross-signs needs. */
const MAX_STEPS = 2000;
const MAX_SIGNATURES = 200;

/**
 * Finds a path without fault where there is one, whatever the order of the intermediates and however many dead ends,
 * loops and expired cross-signs are among them (RFC 4158); else the path that comes closest, with its faults.
 */
export function findPath(request: PathRequest): Path {
  const { leaf, anchors, now } = request;
  const isAnchor = anchors.has(leaf.certificate);
  const faults = leafFaults(leaf.certificate, now, isAnchor);
  if (isAnchor) return { entries: [{ ...leaf, isAnchor }], faults };
  if (faults.length === 0) {
    const clean = cleanPath([leaf], tools(request));
    if (clean) return { entries: clean, faults: [] };
  }
  return closestPath({ entries: [leaf], faults }, tools(request));
}

interface Tools {
  /** Issuers by name that the path does not hold yet, the likeliest first. */
  candidates(path: readonly Entry[]): readonly Entry[];
  faults(issuer: Entry, path: readonly Entry[]): readonly TrustError[];
  signed(child: Entry, issuer: Entry): boolean;
}

/** The look-ups of one search, which share its bounds. */
function tools({ intermediates, anchors, now }: PathRequest): Tools {
  const budget = comparisonBudget();
  const verdicts = new Map<Entry, Map<string, boolean>>();
  const nearness = (child: Entry, issuer: Entry): number => {
    const next = anchors.named(issuer.issuerKey).length > 0 ? 1 : 2;
    return keyIdDistance(child, issuer) * 3 + (issuer.isAnchor ? 0 : next);
  };
  let steps = MAX_STEPS;
  let signatures = MAX_SIGNATURES;
  return {
    candidates(path) {
      const child = last(path);
      if (path.length >= MAX_LENGTH) return [];
      const named = intermediates.filter(({ subjectKey }) => subjectKey === child.issuerKey);
      const fresh = [...anchors.named(child.issuerKey), ...named].filter((issuer) => !holds(path, issuer));
      steps -= fresh.length;
      return steps < 0 ? [] : fresh.toSorted((one, other) => nearness(child, one) - nearness(child, other));
    },
    faults: ({ certificate, isAnchor }, path) =>
      issuerFaults(
        certificate,
        path.map((entry) => entry.certificate),
        { now, isAnchor, budget },
      ),
    signed(child, issuer) {
      const known = verdicts.get(child)?.get(issuer.publicKey);
      if (known !== undefined) return known;
      signatures -= 1;
      const verdict = signatures >= 0 && isSignedBy(child.certificate, issuer.certificate);
      const row = verdicts.get(child) ?? new Map<string, boolean>();
      verdicts.set(child, row.set(issuer.publicKey, verdict));
      return verdict;
    },
  };
}

function cleanPath(path: readonly Entry[], search: Tools): readonly Entry[] | null {
  for (const issuer of search.candidates(path)) {
    if (search.faults(issuer, path).length > 0 || !search.signed(last(path), issuer)) continue;
    const longer = [...path, issuer];
    const complete = issuer.isAnchor ? longer : cleanPath(longer, search);
    if (complete) return complete;
  }
  return null;
}

function closestPath(path: Path, search: Tools): Path {
  const candidates = search.candidates(path.entries);
  const signers = candidates.filter((issuer) => search.signed(last(path.entries), issuer));
  if (signers.length === 0) return withFault(path, deadEnd(path.entries, candidates.length > 0, search));
  return signers
    .map((issuer) => {
      const faults = [...new Set([...path.faults, ...search.faults(issuer, path.entries)])];
      const longer = { entries: [...path.entries, issuer], faults };
      return issuer.isAnchor ? longer : closestPath(longer, search);
    })
    .reduce((best, other) => (isCloser(other, best) ? other : best));
}

/** Why no issuer of the last certificate can be had. */
function deadEnd(path: readonly Entry[], hasCandidates: boolean, search: Tools): TrustError {
  const end = last(path);
  const isLeaf = path.length === 1;
  if (end.subjectKey === end.issuerKey && search.signed(end, end)) {
    return isLeaf ? "self_signed" : "untrusted_root";
  }
  if (hasCandidates) return "bad_signature";
  // An authority whose issuer is unknown may lack a second intermediate or have an unknown root: the latter is likelier.
  return isLeaf ? "missing_intermediate" : "untrusted_root";
}

function isCloser(one: Path, other: Path): boolean {
  const anchored = Number(last(one.entries).isAnchor) - Number(last(other.entries).isAnchor);
  if (anchored !== 0) return anchored > 0;
  if (one.faults.length !== other.faults.length) return one.faults.length < other.faults.length;
  return one.entries.length > other.entries.length;
}

function withFault({ entries, faults }: Path, fault: TrustError): Path {
  return { entries, faults: [...new Set([...faults, fault])] };
}

/** RFC 4158 section 2.4.2: the same name and key again is a loop, also in another certificate. */
function holds(path: readonly Entry[], issuer: Entry): boolean {
  return path.some(({ subjectKey, publicKey }) => subjectKey === issuer.subjectKey && publicKey === issuer.publicKey);
}

/** Key identifiers only order candidates (RFC 4158 section 3.5.12): match, unknown, mismatch. */
function keyIdDistance(child: Entry, issuer: Entry): number {
  if (child.authorityKeyId === null || issuer.subjectKeyId === null) return 1;
  return child.authorityKeyId === issuer.subjectKeyId ? 0 : 2;
}

function last(path: readonly Entry[]): Entry {
  const entry = path.at(-1);
  if (!entry) throw new Error("a path holds at least its leaf");
  return entry;
}
