import {
  childrenOf,
  expectTag,
  oidText,
  sequenceOf,
  smallInteger,
  readDer,
  TAG,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { algorithmOid, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { DIGESTS } from "#probe-agent/analysis/tls/certificate/signature.ts";

const EC_KEY = "1.2.840.10045.2.1";
const RSA_KEY = "1.2.840.113549.1.1.1";
const RSASSA_PSS = "1.2.840.113549.1.1.10";
const MGF1 = "1.2.840.113549.1.1.8";
/** P-256, P-384 and P-521: the curves that Chrome, Firefox and the Baseline Requirements (section 6.1.5) allow. */
const CURVES: ReadonlySet<string> = new Set(["1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"]);
/** First octet of an uncompressed point (SEC 1 section 2.3.3). */
const UNCOMPRESSED = 0x04;

/** OIDs of the signature algorithms that browsers verify: RSA and ECDSA with SHA-256, SHA-384 or SHA-512. */
const BROWSER_SIGNATURES: ReadonlySet<string> = new Set([
  "1.2.840.113549.1.1.11",
  "1.2.840.113549.1.1.12",
  "1.2.840.113549.1.1.13",
  "1.2.840.10045.4.3.2",
  "1.2.840.10045.4.3.3",
  "1.2.840.10045.4.3.4",
]);
/** OIDs of Ed25519 and Ed448 (RFC 8410): strong signatures that browsers do not support. The ssl tool warns of them. */
const EDWARDS: ReadonlySet<string> = new Set(["1.3.101.112", "1.3.101.113"]);
/** Length in octets of the digests that RSASSA-PSS is used with. */
const PSS_SALTS: Readonly<Record<string, number>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Returns the fault in a public key's encoding, as the end of "its key ...", or null. Throws MalformedDer. */
export function keyFormFault({ spki }: Certificate): string | null {
  const [algorithm, key] = sequenceOf(spki);
  const [oid, parameters] = childrenOf(expectTag(algorithm, TAG.sequence).contents);
  const kind = oidText(expectTag(oid, TAG.oid).contents);
  if (kind === RSASSA_PSS) return "is restricted to RSASSA-PSS";
  // The parameters must be NULL (RFC 3279 section 2.3.1).
  if (kind === RSA_KEY) return parameters?.tag === TAG.null ? null : "is an RSA key whose parameters are not NULL";
  if (kind !== EC_KEY) return null;
  // The curve must be named; explicit parameters are forbidden (RFC 5480 section 2.1.1).
  if (parameters?.tag !== TAG.oid) return "has explicit curve parameters instead of a named curve";
  if (!CURVES.has(oidText(parameters.contents))) return "is on a curve other than P-256, P-384 and P-521";
  return expectTag(key, TAG.bitString).contents[1] === UNCOMPRESSED ? null : "is a compressed point";
}

/** Reports whether browsers verify signatures of the algorithm; true for Ed25519 and Ed448 too. Throws MalformedDer. */
export function isKnownSignature({ signatureOid, signatureAlgorithm }: Certificate): boolean {
  if (signatureOid === RSASSA_PSS) return isKnownPss(signatureAlgorithm);
  return BROWSER_SIGNATURES.has(signatureOid) || EDWARDS.has(signatureOid);
}

/**
 * Reports whether Chrome and Go accept an RSASSA-PSS algorithm: the same hash for message and mask, and a salt as long
 * as the hash (RFC 4055 section 3.1).
 */
function isKnownPss(algorithm: Uint8Array): boolean {
  const [, parameters] = sequenceOf(algorithm);
  const fields = childrenOf(expectTag(parameters, TAG.sequence).contents);
  const field = (tag: number): Uint8Array | undefined => fields.find((one) => one.tag === tag)?.contents;
  const [hash, mask, salt] = [field(0xa0), field(0xa1), field(0xa2)];
  if (hash === undefined || mask === undefined || salt === undefined) return false;
  const [function_, maskHash] = sequenceOf(mask);
  const digest = algorithmOid(hash);
  return (
    oidText(expectTag(function_, TAG.oid).contents) === MGF1 &&
    algorithmOid(expectTag(maskHash).whole) === digest &&
    smallInteger(readDer(salt)) === PSS_SALTS[DIGESTS[digest] ?? ""]
  );
}
