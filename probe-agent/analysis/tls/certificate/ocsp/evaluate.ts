import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { extendedKeyUsages, keyUsages } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isSignedBy, isStrongKey, isWeakSignature, publicKey } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { isSameName } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { keyHash, matchesCertificate } from "#probe-agent/analysis/tls/certificate/ocsp/cert-id.ts";
import {
  MAX_OCSP_BYTES,
  readOcspResponse,
  type BasicResponse,
  type SingleResponse,
} from "#probe-agent/analysis/tls/certificate/ocsp/response.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSignatureOf } from "#probe-agent/analysis/tls/certificate/signature.ts";
import { updateFault } from "#probe-agent/analysis/tls/certificate/update.ts";
import { isCurrent } from "#probe-agent/analysis/tls/certificate/validity.ts";

/** What an OCSP response says of one certificate, and whether it can be relied upon. */
export interface OcspResult {
  /** As it says, relied upon or not; null where it says nothing of this certificate. */
  readonly status: SingleResponse["status"] | null;
  readonly thisUpdate: Date | null;
  readonly nextUpdate: Date | null;
  readonly producedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly reason: string | null;
  /** Signed by the issuer or by whom the issuer let sign; null where that was not come to. */
  readonly signatureValid: boolean | null;
  /** List of signed certificate timestamps; null where there is none. */
  readonly timestamps: Uint8Array | null;
  /** Why it cannot be relied upon; null where it can. */
  readonly error: OcspError | null;
}

/** Words for what is wrong with a response: the responder's own, or those of the checks of RFC 6960 section 3.2. */
type OcspError =
  | "too_large"
  | "malformed"
  | "malformed_request"
  | "internal_error"
  | "try_later"
  | "unknown_status"
  | "sig_required"
  | "unauthorized"
  | "other_certificate"
  | "unauthorized_signer"
  | "bad_signature"
  | "unknown_algorithm"
  | "unknown_critical_extension"
  | "not_yet_valid"
  | "stale";

/** The certificate asked about, who issued it, and the time. */
export interface StatusSubject {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  readonly now: Date;
}

const SILENT = {
  status: null,
  thisUpdate: null,
  nextUpdate: null,
  producedAt: null,
  revokedAt: null,
  reason: null,
  signatureValid: null,
  timestamps: null,
} as const;

const OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
/** Signatures looked at for one response. */
const MAX_SIGNERS = 3;
/** Without nextUpdate newer information is there all the time (RFC 6960 section 4.2.2.1): a day is kept, as Firefox does. */
const WITHOUT_NEXT_MS = 86_400_000;

/** Judges a response as a client has to (RFC 6960 section 3.2). */
export function evaluateOcsp(octets: Uint8Array, subject: StatusSubject): OcspResult {
  if (octets.length > MAX_OCSP_BYTES) return { ...SILENT, error: "too_large" };
  const response = readOcspResponse(octets);
  if (response === null) return { ...SILENT, error: "malformed" };
  const { status, basic } = response;
  if (status !== "successful") return { ...SILENT, error: status };
  if (basic === null) return { ...SILENT, error: "malformed" };
  try {
    return judgeBasic(basic, subject);
  } catch (error) {
    if (error instanceof MalformedDer) return { ...SILENT, error: "malformed" };
    throw error;
  }
}

function judgeBasic(basic: BasicResponse, subject: StatusSubject): OcspResult {
  const { certificate, issuer, now } = subject;
  const own = basic.responses.filter(({ id }) => matchesCertificate(id, certificate, issuer));
  // Of several answers about it the newest counts.
  const [single] = own.toSorted((one, other) => other.thisUpdate.getTime() - one.thisUpdate.getTime());
  if (single === undefined) return { ...SILENT, producedAt: basic.producedAt, error: "other_certificate" };
  const proof = prove(basic, issuer, now);
  const isCritical = basic.hasUnknownCritical || single.hasUnknownCritical;
  return {
    status: single.status,
    thisUpdate: single.thisUpdate,
    nextUpdate: single.nextUpdate,
    producedAt: basic.producedAt,
    revokedAt: single.revokedAt,
    reason: single.reason,
    signatureValid: proof === null ? true : proof === "unknown_algorithm" ? null : false,
    timestamps: single.timestamps,
    error: proof ?? (isCritical ? "unknown_critical_extension" : updateFault(single, now, WITHOUT_NEXT_MS)),
  };
}

/** Null where the issuer, or somebody it let sign, made the signature. */
function prove(
  basic: BasicResponse,
  issuer: Certificate,
  now: Date,
): "unauthorized_signer" | "bad_signature" | "unknown_algorithm" | null {
  const candidates = [issuer, ...basic.certificates].filter((certificate) => isNamed(basic, certificate));
  const signers = candidates.filter((certificate) => certificate === issuer || maySign(certificate, issuer, now));
  const verdicts = new Set(
    signers.slice(0, MAX_SIGNERS).map((signer) => {
      const key = publicKey(signer);
      return key === null ? false : isSignatureOf(key, basic);
    }),
  );
  if (verdicts.has(true)) return null;
  if (verdicts.has(null)) return "unknown_algorithm";
  return signers.length === 0 ? "unauthorized_signer" : "bad_signature";
}

function isNamed({ responderName, responderKeyHash }: BasicResponse, certificate: Certificate): boolean {
  if (responderName !== null) return isSameName(responderName, certificate.subject);
  return responderKeyHash !== null && keyHash(certificate, "sha1").equals(responderKeyHash);
}

/**
 * A delegate: certified by the issuer itself, for OCSP signing, now (RFC 6960 section 4.2.2.2). Whether the delegate was
 * revoked is not asked: that is what id-pkix-ocsp-nocheck says not to do.
 */
function maySign(delegate: Certificate, issuer: Certificate, now: Date): boolean {
  return (
    extendedKeyUsages(delegate)?.includes(OCSP_SIGNING) === true &&
    keyUsages(delegate)?.includes("digitalSignature") !== false &&
    isCurrent(delegate, now) &&
    isStrongKey(delegate) &&
    !isWeakSignature(delegate) &&
    isSameName(delegate.issuer, issuer.subject) &&
    isSignedBy(delegate, issuer)
  );
}
