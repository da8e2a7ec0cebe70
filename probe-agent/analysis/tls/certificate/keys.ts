import { createPublicKey, X509Certificate, type KeyObject } from "node:crypto";
import { MalformedDer, sequenceOf } from "#probe-agent/analysis/tls/certificate/der.ts";
import { algorithmOid, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** Type and size of a public key. */
export interface KeyFacts {
  readonly type: string;
  /** Null if unknown. */
  readonly bits: number | null;
  /** Name of an EC key's curve, e.g. P-256; OpenSSL's name if it has no usual one. Null for other types. */
  readonly curve: string | null;
}

/** Usual name and size of curves, by OpenSSL's curve names. */
const CURVES: Readonly<Record<string, readonly [name: string, bits: number]>> = {
  prime256v1: ["P-256", 256],
  secp384r1: ["P-384", 384],
  secp521r1: ["P-521", 521],
  prime192v1: ["P-192", 192],
  secp224r1: ["P-224", 224],
  secp256k1: ["secp256k1", 256],
  brainpoolP256r1: ["brainpoolP256r1", 256],
  brainpoolP384r1: ["brainpoolP384r1", 384],
  brainpoolP512r1: ["brainpoolP512r1", 512],
};

const TYPES: Readonly<Record<string, string>> = {
  rsa: "RSA",
  "rsa-pss": "RSA-PSS",
  ec: "EC",
  dsa: "DSA",
  ed25519: "Ed25519",
  ed448: "Ed448",
};

/** Signature algorithms by OID: the name, and whether the hash no longer resists collisions. */
const SIGNATURES: Readonly<Record<string, readonly [name: string, weak: boolean]>> = {
  "1.2.840.113549.1.1.2": ["md2WithRSAEncryption", true],
  "1.2.840.113549.1.1.3": ["md4WithRSAEncryption", true],
  "1.2.840.113549.1.1.4": ["md5WithRSAEncryption", true],
  "1.2.840.113549.1.1.5": ["sha1WithRSAEncryption", true],
  "1.3.14.3.2.29": ["sha1WithRSAEncryption", true],
  "1.2.840.113549.1.1.10": ["RSASSA-PSS", false],
  "1.2.840.113549.1.1.11": ["sha256WithRSAEncryption", false],
  "1.2.840.113549.1.1.12": ["sha384WithRSAEncryption", false],
  "1.2.840.113549.1.1.13": ["sha512WithRSAEncryption", false],
  "1.2.840.113549.1.1.14": ["sha224WithRSAEncryption", false],
  "1.2.840.10040.4.3": ["dsa-with-SHA1", true],
  "2.16.840.1.101.3.4.3.2": ["dsa-with-SHA256", false],
  "1.2.840.10045.4.1": ["ecdsa-with-SHA1", true],
  "1.2.840.10045.4.3.1": ["ecdsa-with-SHA224", false],
  "1.2.840.10045.4.3.2": ["ecdsa-with-SHA256", false],
  "1.2.840.10045.4.3.3": ["ecdsa-with-SHA384", false],
  "1.2.840.10045.4.3.4": ["ecdsa-with-SHA512", false],
  "1.3.101.112": ["Ed25519", false],
  "1.3.101.113": ["Ed448", false],
};

const RSASSA_PSS = "1.2.840.113549.1.1.10";
const WEAK_HASHES = new Set(["1.3.14.3.2.26", "1.2.840.113549.2.5"]);
const MIN_RSA_BITS = 2048;
const MIN_EC_BITS = 256;
/** Maximum size of RSA keys. A verification with a larger key costs milliseconds; BoringSSL and Go refuse them too. */
export const MAX_RSA_BITS = 8192;

const keys = new WeakMap<Certificate, KeyObject | "unreadable">();

/** Returns the key object of a certificate, or null if OpenSSL cannot read the key. Each key is read once. */
export function publicKey(certificate: Certificate): KeyObject | null {
  const known = keys.get(certificate) ?? readKey(certificate.spki);
  keys.set(certificate, known);
  return known === "unreadable" ? null : known;
}

function readKey(spki: Uint8Array): KeyObject | "unreadable" {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch {
    return "unreadable";
  }
}

/** Returns the type and the size of a certificate's key. */
export function keyFacts(certificate: Certificate): KeyFacts {
  const key = publicKey(certificate);
  if (!key) return { type: "unknown", bits: null, curve: null };
  const { modulusLength = null, namedCurve } = key.asymmetricKeyDetails ?? {};
  const type = TYPES[key.asymmetricKeyType ?? ""] ?? key.asymmetricKeyType ?? "unknown";
  if (type === "Ed25519") return { type, bits: 256, curve: null };
  if (type === "Ed448") return { type, bits: 456, curve: null };
  if (namedCurve === undefined) return { type, bits: modulusLength, curve: null };
  const [curve, bits] = CURVES[namedCurve] ?? [namedCurve, /\d{3}/.exec(namedCurve)?.[0]];
  return { type, bits: bits === undefined ? null : Number(bits), curve };
}

/**
 * Reports whether a key is strong: RSA of at least 2048 bits with an odd exponent of at least 3, EC of at least 256
 * bits on a named curve, Ed25519, Ed448 or ML-DSA.
 */
export function isStrongKey(certificate: Certificate): boolean {
  const { type, bits } = keyFacts(certificate);
  if (type === "Ed25519" || type === "Ed448" || type.startsWith("ml-dsa")) return true;
  if (bits === null) return false;
  if (type === "EC") return bits >= MIN_EC_BITS;
  if (type !== "RSA" && type !== "RSA-PSS") return false;
  const exponent = publicKey(certificate)?.asymmetricKeyDetails?.publicExponent ?? 0n;
  return bits >= MIN_RSA_BITS && exponent >= 3n && exponent % 2n === 1n;
}

/** Returns the usual name of the signature algorithm, or its OID if the name is unknown. */
export function signatureName(certificate: Certificate): string {
  return SIGNATURES[certificate.signatureOid]?.[0] ?? certificate.signatureOid;
}

/** Reports whether the signature uses MD2, MD4, MD5 or SHA-1. RSASSA-PSS has the hash in its parameters. */
export function isWeakSignature(certificate: Certificate): boolean {
  if (certificate.signatureOid !== RSASSA_PSS) return SIGNATURES[certificate.signatureOid]?.[1] ?? false;
  try {
    const [, parameters] = sequenceOf(certificate.signatureAlgorithm);
    const hash = sequenceOf(parameters?.whole ?? new Uint8Array()).find(({ tag }) => tag === 0xa0);
    // The default hash is SHA-1 (RFC 4055 section 3.1).
    return hash === undefined || WEAK_HASHES.has(algorithmOid(hash.contents));
  } catch (error) {
    if (error instanceof MalformedDer) return true;
    throw error;
  }
}

/** Reports whether the issuer's key made the signature of the certificate. False if the key is too large. */
export function isSignedBy(certificate: Certificate, issuer: Certificate): boolean {
  const key = publicKey(issuer);
  if (!key || (key.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_RSA_BITS) return false;
  try {
    return new X509Certificate(certificate.der).verify(key);
  } catch {
    return false;
  }
}
