import {
  childrenOf,
  expectTag,
  MalformedDer,
  oidText,
  readDer,
  sequenceOf,
  smallInteger,
  TAG,
  timeOf,
  wholeOctets,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { readCertId, type CertId } from "#probe-agent/analysis/tls/certificate/ocsp-cert-id.ts";
import {
  parseCertificate,
  readExtensions,
  type Certificate,
  type ExtensionValue,
} from "#probe-agent/analysis/tls/certificate/parse.ts";
import { reasonOf } from "#probe-agent/analysis/tls/certificate/reason.ts";
import type { Signed } from "#probe-agent/analysis/tls/certificate/signature.ts";

/** An OCSP response (RFC 6960 section 4.2.1). `basic` is null unless the status is "successful". */
interface OcspResponse {
  readonly status: ResponseStatus;
  readonly basic: BasicResponse | null;
}

/** Code of an OCSPResponseStatus. */
type ResponseStatus = (typeof STATUSES)[number];

/** A signed response about one certificate or several. */
export interface BasicResponse extends Signed {
  /** DER Name of the responder; null if it is identified by its key. */
  readonly responderName: Uint8Array | null;
  /** SHA-1 of the responder's key; null if it is identified by its name. */
  readonly responderKeyHash: Uint8Array | null;
  readonly producedAt: Date;
  readonly responses: readonly SingleResponse[];
  /** Certificates in the response, for a signer who is not the issuer. Those that cannot be parsed are omitted. */
  readonly certificates: readonly Certificate[];
  /** Whether the response has an unknown critical extension. */
  readonly hasUnknownCritical: boolean;
}

/** The status of one certificate in a response. */
export interface SingleResponse {
  readonly id: CertId;
  readonly status: "good" | "revoked" | "unknown";
  /** Null unless the status is "revoked". */
  readonly revokedAt: Date | null;
  /** Code as returned by reasonOf; null if no reason is given. */
  readonly reason: string | null;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  /** List of signed certificate timestamps (RFC 6962 section 3.3); null if there is none. */
  readonly timestamps: Uint8Array | null;
  readonly hasUnknownCritical: boolean;
}

/** Maximum size of a response in octets: ten times any real one. */
export const MAX_OCSP_BYTES = 65_536;
/** Maximum number of certificates read from a response. */
const MAX_SIGNERS = 5;

/** Codes of OCSPResponseStatus by number. Number 4 is not used. */
const STATUSES = [
  "successful",
  "malformed_request",
  "internal_error",
  "try_later",
  "unknown_status",
  "sig_required",
  "unauthorized",
] as const;

const BASIC_RESPONSE = "1.3.6.1.5.5.7.48.1.1";
/**
 * OIDs of known extensions: nonce (RFC 8954), CRL references, archive cutoff, service locator and extended revoke (RFC
 * 6960 section 4.4).
 */
const UNDERSTOOD = new Set([
  "1.3.6.1.5.5.7.48.1.2",
  "1.3.6.1.5.5.7.48.1.3",
  "1.3.6.1.5.5.7.48.1.6",
  "1.3.6.1.5.5.7.48.1.7",
  "1.3.6.1.5.5.7.48.1.9",
]);
/** OID of the extension that contains a list of signed certificate timestamps (RFC 6962 section 3.3). */
const TIMESTAMPS = "1.3.6.1.4.1.11129.2.4.5";

/** Parses a response. Returns null if it is not DER, not an OCSP response, or too large. */
export function readOcspResponse(octets: Uint8Array): OcspResponse | null {
  if (octets.length > MAX_OCSP_BYTES) return null;
  try {
    const [status, bytes] = sequenceOf(octets);
    const word = STATUSES[smallInteger(status, TAG.enumerated)] ?? "unknown_status";
    if (word !== "successful") return { status: word, basic: null };
    const [type, response] = sequenceOf(expectTag(bytes, 0xa0).contents);
    if (oidText(expectTag(type, TAG.oid).contents) !== BASIC_RESPONSE) return null;
    return { status: word, basic: readBasic(expectTag(response, TAG.octetString).contents) };
  } catch (error) {
    if (error instanceof MalformedDer) return null;
    throw error;
  }
}

function readBasic(octets: Uint8Array): BasicResponse {
  const [data, algorithm, signature, certificates] = sequenceOf(octets);
  const signed = expectTag(data, TAG.sequence);
  const fields = childrenOf(signed.contents);
  // The version is absent if it is 1.
  if (fields[0]?.tag === 0xa0) fields.shift();
  const [responder, producedAt, responses, extensions] = fields;
  const { tag, contents } = expectTag(responder);
  if (tag !== 0xa1 && tag !== 0xa2) throw new MalformedDer("responder");
  return {
    algorithm: expectTag(algorithm, TAG.sequence).whole,
    signed: signed.whole,
    signature: wholeOctets(signature),
    responderName: tag === 0xa1 ? readDer(contents, TAG.sequence).whole : null,
    responderKeyHash: tag === 0xa2 ? readDer(contents, TAG.octetString).contents : null,
    producedAt: timeOf(producedAt),
    responses: childrenOf(expectTag(responses, TAG.sequence).contents).map(readSingle),
    certificates: signersOf(certificates),
    hasUnknownCritical: hasUnknownCritical(readExtensions(extensions && expectTag(extensions, 0xa1))),
  };
}

function signersOf(wrapped: Der | undefined): Certificate[] {
  if (wrapped === undefined) return [];
  return sequenceOf(expectTag(wrapped, 0xa0).contents)
    .slice(0, MAX_SIGNERS)
    .flatMap(({ whole }) => parseCertificate(whole) ?? []);
}

function readSingle(value: Der): SingleResponse {
  const [id, status, thisUpdate, ...optional] = childrenOf(expectTag(value, TAG.sequence).contents);
  const next = optional.find(({ tag }) => tag === 0xa0);
  const extensions = readExtensions(optional.find(({ tag }) => tag === 0xa1));
  const timestamps = extensions.get(TIMESTAMPS)?.value;
  return {
    id: readCertId(id),
    ...readStatus(expectTag(status)),
    thisUpdate: timeOf(thisUpdate),
    nextUpdate: next === undefined ? null : timeOf(readDer(next.contents)),
    timestamps: timestamps === undefined ? null : readDer(timestamps, TAG.octetString).contents,
    hasUnknownCritical: hasUnknownCritical(extensions),
  };
}

function readStatus({ tag, contents }: Der): Pick<SingleResponse, "status" | "revokedAt" | "reason"> {
  if (tag === 0x80) return { status: "good", revokedAt: null, reason: null };
  if (tag === 0x82) return { status: "unknown", revokedAt: null, reason: null };
  if (tag !== 0xa1) throw new MalformedDer("certificate status");
  const [time, reason] = childrenOf(contents);
  const code = reason === undefined ? null : readDer(expectTag(reason, 0xa0).contents);
  return { status: "revoked", revokedAt: timeOf(time), reason: code === null ? null : reasonOf(code) };
}

function hasUnknownCritical(extensions: ReadonlyMap<string, ExtensionValue>): boolean {
  return [...extensions].some(([oid, { critical }]) => critical && !UNDERSTOOD.has(oid));
}
