import { isSameName } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import type { Crl } from "#probe-agent/analysis/tls/certificate/crl-read.ts";
import {
  MalformedDer,
  childrenOf,
  readDer,
  sequenceOf,
  type Der,
  expectTag,
  TAG,
  timeOf,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { basicConstraints, crlUrls, keyUsages, generalName } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { publicKey } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { StatusSubject } from "#probe-agent/analysis/tls/certificate/ocsp-evaluate.ts";
import { type Certificate, readExtensions } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSignatureOf } from "#probe-agent/analysis/tls/certificate/signature.ts";
import { updateFault } from "#probe-agent/analysis/tls/certificate/update.ts";
import { reasonOf } from "#probe-agent/analysis/tls/certificate/reason.ts";

/** Status of one certificate by a revocation list (CRL). */
export interface CrlResult {
  /** Null if the list does not determine the status. */
  readonly status: "good" | "revoked" | null;
  readonly revokedAt: Date | null;
  readonly reason: string | null;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** Number of entries read. */
  readonly entries: number;
  /** Whether the certificate's issuer signed the list and is allowed to sign CRLs. */
  readonly authentic: boolean;
  /** Why the list does not determine the status; null if it does. */
  readonly error: CrlError | null;
}

/** Code of a fault of a list (RFC 5280 section 6.3.3), or of the reason why it does not cover the certificate. */
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
/**
 * Validity of a list without nextUpdate, in milliseconds: one day after thisUpdate. RFC 5280 section 5.1.2.5 requires
 * nextUpdate.
 */
const WITHOUT_NEXT_MS = 86_400_000;

/** Scope of a list, from its issuing distribution point extension (RFC 5280 section 5.2.5). */
interface DistributionScope {
  /** URIs of the list, as certificates name them; null if the list is not limited to distribution points. */
  readonly names: readonly string[] | null;
  readonly onlyUsers: boolean;
  readonly onlyAuthorities: boolean;
  readonly attributeCertificates: boolean;
  /** Whether the list omits certificates that were revoked for other reasons. */
  readonly someReasons: boolean;
  /** Whether the list also has entries of other issuers. */
  readonly indirect: boolean;
}

/**
 * Looks up a certificate in a CRL (RFC 5280 section 6.3.3). Supports only complete lists of the certificate's issuer.
 */
export function evaluateCrl(crl: Crl, subject: StatusSubject): CrlResult {
  const { thisUpdate, nextUpdate } = crl;
  const undetermined = { status: null, revokedAt: null, reason: null, thisUpdate, nextUpdate, entries: 0 };
  try {
    const signerError = signerFault(crl, subject);
    if (signerError !== null) return { ...undetermined, authentic: false, error: signerError };
    const error = updateFault(crl, subject.now, WITHOUT_NEXT_MS);
    if (error !== null) return { ...undetermined, authentic: true, error };
    return { ...undetermined, ...lookUp(crl, subject.certificate), authentic: true };
  } catch (error) {
    if (error instanceof MalformedDer) return { ...undetermined, authentic: false, error: "malformed" };
    throw error;
  }
}

/** Results of signature checks by list and public key. */
const checkedSignatures = new WeakMap<Crl, Map<string, boolean | null>>();

/**
 * Returns why the list is not the issuer's; null if the issuer signed it. The signature is checked once for each list
 * and key, because hashing megabytes is expensive.
 */
function signerFault(crl: Crl, { certificate, issuer }: StatusSubject): CrlError | null {
  if (!isSameName(crl.issuer, certificate.issuer)) return "other_issuer";
  if (keyUsages(issuer)?.includes("cRLSign") === false) return "unauthorized_signer";
  const known = checkedSignatures.get(crl) ?? new Map<string, boolean | null>();
  checkedSignatures.set(crl, known);
  const name = Buffer.from(issuer.spki).toString("latin1");
  const key = publicKey(issuer);
  const isValid = known.get(name) ?? (key === null ? false : isSignatureOf(key, crl));
  known.set(name, isValid);
  if (isValid === null) return "unknown_algorithm";
  return isValid ? null : "bad_signature";
}

/**
 * Looks up a certificate in an authentic list. An entry makes it revoked, even if the list is incomplete. Without an
 * entry it is good only if the list is complete.
 */
function lookUp(
  crl: Crl,
  certificate: Certificate,
): Pick<CrlResult, "status" | "revokedAt" | "reason" | "entries" | "error"> {
  const undetermined = (error: CrlError, entries = 0) => ({
    status: null,
    revokedAt: null,
    reason: null,
    entries,
    error,
  });
  const { extensions } = crl;
  if (extensions.has(DELTA_INDICATOR)) return undetermined("delta");
  if ([...extensions].some(([oid, { critical }]) => critical && !UNDERSTOOD.has(oid))) {
    return undetermined("unknown_critical_extension");
  }
  const point = extensions.get(ISSUING_DISTRIBUTION_POINT)?.value;
  const scope = point === undefined ? null : readDistributionScope(point);
  if (scope?.indirect === true) return undetermined("indirect");
  if (scope !== null && !covers(scope, certificate)) return undetermined("other_scope");
  const { found, entries, hasCritical, complete } = scanEntries(crl.entries, certificate.serialNumber);
  if (found !== null && found.reason !== "remove_from_crl") {
    return { status: "revoked", revokedAt: found.at, reason: found.reason, entries, error: null };
  }
  if (!complete) return undetermined("too_many_entries", entries);
  if (hasCritical) return undetermined("unknown_critical_extension", entries);
  if (scope?.someReasons === true) return undetermined("some_reasons", entries);
  return { status: "good", revokedAt: null, reason: null, entries, error: null };
}

/**
 * Reports whether a list's scope covers a certificate (RFC 5280 section 6.3.3 (b) (2)): it covers this type of
 * certificate, and one of its names is a CRL URL in the certificate.
 */
function covers(scope: DistributionScope, certificate: Certificate): boolean {
  const isAuthority = basicConstraints(certificate)?.ca === true;
  if (scope.attributeCertificates || (isAuthority ? scope.onlyUsers : scope.onlyAuthorities)) return false;
  if (scope.names === null) return true;
  const own = crlUrls(certificate);
  return scope.names.some((name) => own.includes(name));
}

/** Parses the extension. Throws MalformedDer. */
function readDistributionScope(value: Uint8Array): DistributionScope {
  const fields = new Map(sequenceOf(value).map((field) => [field.tag, field]));
  const isSet = (tag: number): boolean => (fields.get(tag)?.contents[0] ?? 0) !== 0;
  return {
    names: namesOf(fields.get(0xa0)),
    onlyUsers: isSet(0x81),
    onlyAuthorities: isSet(0x82),
    someReasons: fields.has(0x83),
    indirect: isSet(0x84),
    attributeCertificates: isSet(0x85),
  };
}

/** Returns the URIs among the full names. A name relative to the issuer matches no URI, so the result is empty. */
function namesOf(point: Der | undefined): string[] | null {
  if (point === undefined) return null;
  const { tag, contents } = readDer(point.contents);
  if (tag !== 0xa0) return [];
  return childrenOf(contents)
    .map(generalName)
    .flatMap((name) => (name.kind === "uri" ? [Buffer.from(name.contents).toString("latin1")] : []));
}

/** Result of searching a list's entries. */
interface Scan {
  /** The first entry with the serial number. */
  readonly found: Revoked | null;
  /** Number of entries read: up to and including the one found, or all of them. */
  readonly entries: number;
  /**
   * Whether an entry that was read has a critical extension. Such an entry may concern another issuer's certificate
   * (RFC 5280 section 5.3.3).
   */
  readonly hasCritical: boolean;
  /** False if the list has more than the maximum number of entries. */
  readonly complete: boolean;
}

/** Entry of a revoked certificate. */
interface Revoked {
  /** Time of revocation. */
  readonly at: Date;
  /** Code as returned by reasonOf; null if the entry has no reason. */
  readonly reason: string | null;
}

/** Maximum number of entries read. The longest lists of public authorities have about 100,000. */
export const MAX_ENTRIES = 1_000_000;

const REASON_CODE = "2.5.29.21";

/**
 * Searches the entries (RFC 5280 section 5.1.2.6) for a serial number. It scans the octets without parsing each entry,
 * so that a list of several megabytes costs milliseconds and no memory. Throws MalformedDer.
 */
export function scanEntries(entries: Uint8Array, serialNumber: Uint8Array): Scan {
  let hasCritical = false;
  let count = 0;
  for (let at = 0; at < entries.length; count += 1) {
    if (count === MAX_ENTRIES) return { found: null, entries: count, hasCritical, complete: false };
    const start = contentsAt(entries, at, TAG.sequence);
    const end = start + lengthAt(entries, at);
    const serialStart = contentsAt(entries, start, TAG.integer);
    const serialEnd = serialStart + lengthAt(entries, start);
    if (end > entries.length || serialEnd > end) throw new MalformedDer("entry of a revocation list");
    hasCritical ||= holdsTrue(entries, serialEnd, end);
    if (equals(entries, serialStart, serialEnd, serialNumber)) {
      return { found: readEntry(entries.subarray(start, end)), entries: count + 1, hasCritical, complete: true };
    }
    at = end;
  }
  return { found: null, entries: count, hasCritical, complete: true };
}

/** Returns the offset of the contents of the value at `at`. Throws MalformedDer if the value does not have the tag. */
function contentsAt(octets: Uint8Array, at: number, tag: number): number {
  const length = octets[at + 1];
  if (octets[at] !== tag || length === undefined) throw new MalformedDer("entry of a revocation list");
  return length < 0x80 ? at + 2 : at + 2 + (length & 0x7f);
}

/** Returns the length of the contents of the value at `at`, in octets. */
function lengthAt(octets: Uint8Array, at: number): number {
  const first = octets[at + 1] ?? 0;
  if (first < 0x80) return first;
  const [one, two, three] = [octets[at + 2] ?? 0, octets[at + 3] ?? 0, octets[at + 4] ?? 0];
  if (first === 0x81) return one;
  if (first === 0x82) return one * 256 + two;
  if (first === 0x83) return one * 65_536 + two * 256 + three;
  throw new MalformedDer("entry of a revocation list");
}

function equals(octets: Uint8Array, start: number, end: number, wanted: Uint8Array): boolean {
  if (end - start !== wanted.length) return false;
  // Compares from the end, because serial numbers of one authority often begin with the same octets.
  for (let index = wanted.length - 1; index >= 0; index -= 1) {
    if (octets[start + index] !== wanted[index]) return false;
  }
  return true;
}

/** Reports whether the range contains a BOOLEAN TRUE. In an entry, only the `critical` field is a BOOLEAN. */
function holdsTrue(octets: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at + 2 < end; at += 1) {
    if (octets[at] === TAG.boolean && octets[at + 1] === 1 && octets[at + 2] === 0xff) return true;
  }
  return false;
}

function readEntry(contents: Uint8Array): Revoked {
  const [, date, extensions] = childrenOf(contents);
  const wrapped = extensions && { ...extensions, contents: expectTag(extensions, TAG.sequence).whole };
  const reason = readExtensions(wrapped).get(REASON_CODE)?.value;
  return { at: timeOf(date), reason: reason === undefined ? null : reasonOf(readDer(reason)) };
}
