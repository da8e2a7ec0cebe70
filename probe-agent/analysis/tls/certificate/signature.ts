import { constants, verify, type KeyObject, type VerifyKeyObjectInput } from "node:crypto";
import {
  childrenOf,
  expectTag,
  readDer,
  sequenceOf,
  smallInteger,
  TAG,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { MAX_RSA_BITS } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { algorithmOid } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A signature with the signed octets. */
export interface Signed {
  /** DER AlgorithmIdentifier of the signature. */
  readonly algorithm: Uint8Array;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** Type of key and hash that verify a signature algorithm. The hash is null if the algorithm defines it itself. */
type Scheme = readonly [key: "rsa" | "ec" | "ed25519" | "ed448", hash: string | null];

/**
 * Signature algorithms by OID (RFC 3279, RFC 4055, RFC 5758, RFC 8410). MD5 and older hashes are omitted because they
 * no longer prove anything. SHA-1 still occurs in OCSP responses and CRLs.
 */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  "1.2.840.113549.1.1.5": ["rsa", "sha1"],
  "1.2.840.113549.1.1.11": ["rsa", "sha256"],
  "1.2.840.113549.1.1.12": ["rsa", "sha384"],
  "1.2.840.113549.1.1.13": ["rsa", "sha512"],
  "1.2.840.113549.1.1.14": ["rsa", "sha224"],
  "1.2.840.10045.4.1": ["ec", "sha1"],
  "1.2.840.10045.4.3.1": ["ec", "sha224"],
  "1.2.840.10045.4.3.2": ["ec", "sha256"],
  "1.2.840.10045.4.3.3": ["ec", "sha384"],
  "1.2.840.10045.4.3.4": ["ec", "sha512"],
  "1.3.101.112": ["ed25519", null],
  "1.3.101.113": ["ed448", null],
};

const RSASSA_PSS = "1.2.840.113549.1.1.10";
/** Digest names by OID (RFC 3279 section 2.2.1, RFC 4055 section 2.1). */
export const DIGESTS: Readonly<Record<string, string>> = {
  "1.3.14.3.2.26": "sha1",
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};

/** Reports whether the key made the signature; null if the algorithm is unknown. */
export function isSignatureOf(key: KeyObject, { algorithm, signed, signature }: Signed): boolean | null {
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_BITS) return false;
  try {
    const oid = algorithmOid(algorithm);
    if (oid === RSASSA_PSS) return verifyPss(key, { algorithm, signed, signature });
    const scheme = SCHEMES[oid];
    if (scheme === undefined) return null;
    const [kind, hash] = scheme;
    return key.asymmetricKeyType === kind && verify(hash, signed, key, signature);
  } catch {
    // OpenSSL throws for malformed keys and signatures.
    return false;
  }
}

/** Verifies RSASSA-PSS with its parameters (RFC 4055 section 3.1). The defaults are SHA-1 and a salt of 20 octets. */
function verifyPss(key: KeyObject, { algorithm, signed, signature }: Signed): boolean | null {
  if (key.asymmetricKeyType !== "rsa" && key.asymmetricKeyType !== "rsa-pss") return false;
  const [, parameters] = sequenceOf(algorithm);
  const fields = childrenOf(expectTag(parameters, TAG.sequence).contents);
  const field = (tag: number): Uint8Array | undefined => fields.find((one) => one.tag === tag)?.contents;
  const hashField = field(0xa0);
  const hash = DIGESTS[hashField === undefined ? "1.3.14.3.2.26" : algorithmOid(hashField)];
  if (hash === undefined) return null;
  const mask = field(0xa1);
  const [, maskHash] = mask === undefined ? [] : sequenceOf(mask);
  // OpenSSL uses the same hash for the mask; other combinations do not occur.
  if (maskHash !== undefined && DIGESTS[algorithmOid(maskHash.whole)] !== hash) return null;
  const salt = field(0xa2);
  const saltLength = salt === undefined ? 20 : smallInteger(readDer(salt));
  const input: VerifyKeyObjectInput = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  return verify(hash, signed, input, signature);
}
