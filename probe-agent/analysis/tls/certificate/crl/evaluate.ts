import { isSameName } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { readDistributionScope, type DistributionScope } from "#probe-agent/analysis/tls/certificate/crl/scope.ts";
import type { Crl } from "#probe-agent/analysis/tls/certificate/crl/read.ts";
import { scanEntries } from "#probe-agent/analysis/tls/certificate/crl/scan.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { basicConstraints, crlUrls, keyUsages } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { publicKey } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { StatusSubject } from "#probe-agent/analysis/tls/certificate/ocsp/evaluate.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSignatureOf } from "#probe-agent/analysis/tls/certificate/signature.ts";
import { updateFault } from "#probe-agent/analysis/tls/certificate/update.ts";

/** What a revocation list says of one certificate. */
export interface CrlResult {
  /** Null where the list tells nothing of it. */
  readonly status: "good" | "revoked" | null;
  readonly revokedAt: Date | null;
  readonly reason: string | null;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** Entries looked at. */
  readonly entries: number;
  /** Signed by the certificate's issuer, who may sign lists. */
  readonly authentic: boolean;
  /** Why it tells nothing; null where it does. */
  readonly error: CrlError | null;
}

/** Words for what is wrong with a list (RFC 5280 section 6.3.3), or why it is not about the certificate. */
type CrlError =
  | "malformed"
  | "other_issuer"
  | "unauthorized_signer"
  | "bad_signature"
  | "unknown_algorithm"
  | "not_yet_valid"
  | "stale"
  | "unknown_critical_extension"
  | "delta"
  | "indirect"
  | "other_scope"
  | "some_reasons"
  | "too_many_entries";

const AUTHORITY_KEY_ID = "2.5.29.35";
const CRL_NUMBER = "2.5.29.20";
const DELTA_INDICATOR = "2.5.29.27";
const ISSUING_DISTRIBUTION_POINT = "2.5.29.28";
const UNDERSTOOD = new Set([AUTHORITY_KEY_ID, CRL_NUMBER, DELTA_INDICATOR, ISSUING_DISTRIBUTION_POINT]);
/** RFC 5280 section 5.1.2.5 wants nextUpdate; a list without one is good for the day it was made. */
const WITHOUT_NEXT_MS = 86_400_000;

/** Looks a certificate up in a list of its issuer's (RFC 5280 section 6.3.3, complete lists of the issuer itself). */
export function evaluateCrl(crl: Crl, subject: StatusSubject): CrlResult {
  const { thisUpdate, nextUpdate } = crl;
  const silent = { status: null, revokedAt: null, reason: null, thisUpdate, nextUpdate, entries: 0 };
  try {
    const forged = proofFault(crl, subject);
    if (forged !== null) return { ...silent, authentic: false, error: forged };
    const error = updateFault(crl, subject.now, WITHOUT_NEXT_MS);
    if (error !== null) return { ...silent, authentic: true, error };
    return { ...silent, ...lookUp(crl, subject.certificate), authentic: true };
  } catch (error) {
    if (error instanceof MalformedDer) return { ...silent, authentic: false, error: "malformed" };
    throw error;
  }
}

const proven = new WeakMap<Crl, Map<string, boolean | null>>();

/** Null where the issuer made the list; hashing megabytes is done once a list and key. */
function proofFault(crl: Crl, { certificate, issuer }: StatusSubject): CrlError | null {
  if (!isSameName(crl.issuer, certificate.issuer)) return "other_issuer";
  if (keyUsages(issuer)?.includes("cRLSign") === false) return "unauthorized_signer";
  const known = proven.get(crl) ?? new Map<string, boolean | null>();
  proven.set(crl, known);
  const name = Buffer.from(issuer.spki).toString("latin1");
  const key = publicKey(issuer);
  const verdict = known.get(name) ?? (key === null ? false : isSignatureOf(key, crl));
  known.set(name, verdict);
  if (verdict === null) return "unknown_algorithm";
  return verdict ? null : "bad_signature";
}

/** An entry counts whatever the list leaves out; that there is none counts only where the list is about it all. */
function lookUp(
  crl: Crl,
  certificate: Certificate,
): Pick<CrlResult, "status" | "revokedAt" | "reason" | "entries" | "error"> {
  const silent = (error: CrlError, entries = 0) => ({ status: null, revokedAt: null, reason: null, entries, error });
  const { extensions } = crl;
  if (extensions.has(DELTA_INDICATOR)) return silent("delta");
  if ([...extensions].some(([oid, { critical }]) => critical && !UNDERSTOOD.has(oid))) {
    return silent("unknown_critical_extension");
  }
  const point = extensions.get(ISSUING_DISTRIBUTION_POINT)?.value;
  const scope = point === undefined ? null : readDistributionScope(point);
  if (scope?.indirect === true) return silent("indirect");
  if (scope !== null && !covers(scope, certificate)) return silent("other_scope");
  const { found, entries, hasCritical, complete } = scanEntries(crl.entries, certificate.serialNumber);
  if (found !== null && found.reason !== "remove_from_crl") {
    return { status: "revoked", revokedAt: found.at, reason: found.reason, entries, error: null };
  }
  if (!complete) return silent("too_many_entries", entries);
  if (hasCritical) return silent("unknown_critical_extension", entries);
  if (scope?.someReasons === true) return silent("some_reasons", entries);
  return { status: "good", revokedAt: null, reason: null, entries, error: null };
}

/** RFC 5280 section 6.3.3 (b) (2): the kind of certificate, and one of the names it says its lists have. */
function covers(scope: DistributionScope, certificate: Certificate): boolean {
  const isAuthority = basicConstraints(certificate)?.ca === true;
  if (scope.attributeCertificates || (isAuthority ? scope.onlyUsers : scope.onlyAuthorities)) return false;
  if (scope.names === null) return true;
  const own = crlUrls(certificate);
  return scope.names.some((name) => own.includes(name));
}
