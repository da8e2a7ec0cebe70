import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { extendedKeyUsages, keyUsages } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isSignedBy, isStrongKey, isWeakSignature, publicKey } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { isSameName } from "#probe-agent/analysis/tls/certificate/anchors.ts";
import { keyHash, matchesCertificate } from "#probe-agent/analysis/tls/certificate/ocsp-cert-id.ts";
import {
  MAX_OCSP_BYTES,
  readOcspResponse,
  type BasicResponse,
  type SingleResponse,
} from "#probe-agent/analysis/tls/certificate/ocsp-response.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isSignatureOf } from "#probe-agent/analysis/tls/certificate/signature.ts";
import { updateFault } from "#probe-agent/analysis/tls/certificate/update.ts";
import { isCurrent } from "#probe-agent/analysis/tls/certificate/validity.ts";

/** Status of one certificate by an OCSP response, and whether the response is valid. */
export interface OcspResult {
  /** Status in the response, valid or not; null if the response has no status of this certificate. */
  readonly status: SingleResponse["status"] | null;
  readonly thisUpdate: Date | null;
  readonly nextUpdate: Date | null;
  readonly producedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly reason: string | null;
  /** Whether the issuer or a responder it authorized signed the response; null if that was not determined. */
  readonly signatureValid: boolean | null;
  /** List of signed certificate timestamps; null if there is none. */
  readonly timestamps: Uint8Array | null;
  /** Why the response is not valid; null if it is. */
  readonly error: OcspError | null;
}

/** Code of the fault of a response: the responder's own error status, or a failed check of RFC 6960 section 3.2. */
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

/** The certificate whose status is checked, its issuer, and the current time. */
export interface StatusSubject {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  readonly now: Date;
}

const NO_STATUS = {
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
/** Maximum number of signers whose key is tried on one response. */
const MAX_SIGNERS = 3;
/**
 * Validity of a response without nextUpdate, in milliseconds: one day after thisUpdate, as in Firefox. Without
 * nextUpdate, newer information is always available (RFC 6960 section 4.2.2.1).
 */
const WITHOUT_NEXT_MS = 86_400_000;

/** Parses and checks a response as RFC 6960 section 3.2 requires of clients. */
export function evaluateOcsp(octets: Uint8Array, subject: StatusSubject): OcspResult {
  if (octets.length > MAX_OCSP_BYTES) return { ...NO_STATUS, error: "too_large" };
  const response = readOcspResponse(octets);
  if (response === null) return { ...NO_STATUS, error: "malformed" };
  const { status, basic } = response;
  if (status !== "successful") return { ...NO_STATUS, error: status };
  if (basic === null) return { ...NO_STATUS, error: "malformed" };
  try {
    return evaluateBasic(basic, subject);
  } catch (error) {
    if (error instanceof MalformedDer) return { ...NO_STATUS, error: "malformed" };
    throw error;
  }
}

function evaluateBasic(basic: BasicResponse, subject: StatusSubject): OcspResult {
  const { certificate, issuer, now } = subject;
  const own = basic.responses.filter(({ id }) => matchesCertificate(id, certificate, issuer));
  // If the response has several entries for the certificate, the newest counts.
  const [single] = own.toSorted((one, other) => other.thisUpdate.getTime() - one.thisUpdate.getTime());
  if (single === undefined) return { ...NO_STATUS, producedAt: basic.producedAt, error: "other_certificate" };
  const signerError = signerFault(basic, issuer, now);
  const isCritical = basic.hasUnknownCritical || single.hasUnknownCritical;
  return {
    status: single.status,
    thisUpdate: single.thisUpdate,
    nextUpdate: single.nextUpdate,
    producedAt: basic.producedAt,
    revokedAt: single.revokedAt,
    reason: single.reason,
    signatureValid: signerError === null ? true : signerError === "unknown_algorithm" ? null : false,
    timestamps: single.timestamps,
    error: signerError ?? (isCritical ? "unknown_critical_extension" : updateFault(single, now, WITHOUT_NEXT_MS)),
  };
}

/** Returns why the signature is not authentic; null if the issuer or a delegate of it made the signature. */
function signerFault(
  basic: BasicResponse,
  issuer: Certificate,
  now: Date,
): "unauthorized_signer" | "bad_signature" | "unknown_algorithm" | null {
  const candidates = [issuer, ...basic.certificates].filter((certificate) => isResponder(basic, certificate));
  const signers = candidates.filter((certificate) => certificate === issuer || isDelegate(certificate, issuer, now));
  const results = new Set(
    signers.slice(0, MAX_SIGNERS).map((signer) => {
      const key = publicKey(signer);
      return key === null ? false : isSignatureOf(key, basic);
    }),
  );
  if (results.has(true)) return null;
  if (results.has(null)) return "unknown_algorithm";
  return signers.length === 0 ? "unauthorized_signer" : "bad_signature";
}

/** Reports whether the response names the certificate's holder or key as responder. */
function isResponder({ responderName, responderKeyHash }: BasicResponse, certificate: Certificate): boolean {
  if (responderName !== null) return isSameName(responderName, certificate.subject);
  return responderKeyHash !== null && keyHash(certificate, "sha1").equals(responderKeyHash);
}

/**
 * Reports whether the issuer itself issued the certificate for OCSP signing and the certificate is valid now (RFC 6960
 * section 4.2.2.2). Its revocation is not checked, as the id-pkix-ocsp-nocheck extension requests.
 */
function isDelegate(delegate: Certificate, issuer: Certificate, now: Date): boolean {
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
