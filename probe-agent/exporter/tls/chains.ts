import { anchorsOf, entryOf, isSame, type Anchors, type Entry } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { readable } from "#probe-agent/analysis/tls/certificate/der.ts";
import { basicConstraints } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isSignedBy, isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isCurrent } from "#probe-agent/analysis/tls/certificate/validity.ts";

/** Maximum number of signatures that are verified for one server, as in Go's crypto/x509. */
const MAX_SIGNATURES = 100;
/** Maximum number of certificates in a chain. */
const MAX_LENGTH = 12;
/** Maximum number of sent certificates that are used. */
const MAX_SENT = 100;

/**
 * Returns when the last chain ends, in milliseconds: the latest of the chains from the server's certificate to a trusted
 * one, of which each ends with its first certificate. These are Go's VerifiedChains: OpenSSL builds one chain alone.
 * Signatures of MD5 and SHA-1 make no chain, and expired certificates do not either. Returns null if there is no chain.
 */
export function lastExpiry(sent: readonly Certificate[], roots: readonly string[], now: Date): number | null {
  const [leaf, ...others] = sent;
  if (leaf === undefined) return null;
  const anchors = anchorsOf(roots);
  if (anchors.has(leaf)) return leaf.notAfter.getTime();
  const issuers = others.slice(0, MAX_SENT).map((certificate) => entryOf(certificate, false));
  return follow([entryOf(leaf, false)], leaf.notAfter.getTime(), { issuers, anchors, now, signatures: 0 });
}

interface Search {
  readonly issuers: readonly Entry[];
  readonly anchors: Anchors;
  readonly now: Date;
  signatures: number;
}

function follow(path: readonly Entry[], endsAt: number, search: Search): number | null {
  const child = path.at(-1);
  if (child === undefined || path.length >= MAX_LENGTH || isWeakSignature(child.certificate)) return null;
  const named = search.issuers.filter(({ subjectKey }) => subjectKey === child.issuerKey);
  let latest: number | null = null;
  for (const issuer of [...search.anchors.named(child.issuerKey), ...named]) {
    const { certificate, isAnchor } = issuer;
    if (!isCurrent(certificate, search.now) || isIn(path, issuer) || (!isAnchor && !isAuthority(certificate))) continue;
    search.signatures += 1;
    if (search.signatures > MAX_SIGNATURES) break;
    if (!isSignedBy(child.certificate, certificate)) continue;
    const end = Math.min(endsAt, certificate.notAfter.getTime());
    const found = isAnchor ? end : follow([...path, issuer], end, search);
    if (found !== null && (latest === null || found > latest)) latest = found;
  }
  return latest;
}

function isIn(path: readonly Entry[], issuer: Entry): boolean {
  return path.some(({ certificate }) => isSame(certificate, issuer.certificate));
}

function isAuthority(certificate: Certificate): boolean {
  return readable(() => basicConstraints(certificate)?.ca === true, false);
}
