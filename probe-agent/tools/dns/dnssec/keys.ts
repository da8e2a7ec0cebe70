import { createPublicKey, verify, type JsonWebKey, type KeyObject } from "node:crypto";
import { findAlgorithm, type Algorithm, type KeyKind } from "#probe-agent/tools/dns/dnssec/algorithms.ts";
import { keyTag } from "#probe-agent/dns-codec/rdata/dnssec-fields.ts";

// RFC 3110 section 2 and RFC 5702 section 2. Larger keys only cost time.
const MIN_RSA_BITS = 512;
const MAX_RSA_BITS = 4096;
// The exponent 2^32 + 1 is in use. Larger exponents only serve to waste our time.
const MAX_EXPONENT_BITS = 35;

const FLAG_ZONE = 0x0100;
const FLAG_REVOKE = 0x0080;

/** A DNSKEY of a zone. */
export interface ZoneKey {
  readonly tag: number;
  readonly algorithm: number;
  readonly flags: number;
  /** Size of the modulus or curve in bits. Null if the key cannot be read. */
  readonly bits: number | null;
  readonly rdata: Uint8Array;
  readonly publicKey: KeyObject | null;
  /** Why no signature can be verified with the key. Null if the key is usable. */
  readonly fault: string | null;
}

/** Parses a DNSKEY's RDATA (RFC 4034 section 2). */
export function readKey(rdata: Uint8Array): ZoneKey {
  const [high = 0, low = 0, protocol = 0, number = 0] = rdata;
  const flags = high * 256 + low;
  const known = findAlgorithm(number);
  const jwk = known === null ? null : toJwk(known.kind, rdata.subarray(4));
  const publicKey = jwk === null ? null : importKey(jwk.key);
  return {
    tag: keyTag(rdata),
    algorithm: number,
    flags,
    bits: jwk?.bits ?? null,
    rdata,
    publicKey,
    fault: faultOf({ flags, protocol, known, publicKey }),
  };
}

function faultOf(key: {
  flags: number;
  protocol: number;
  known: Algorithm | null;
  publicKey: KeyObject | null;
}): string | null {
  if ((key.flags & FLAG_ZONE) === 0) return "is not a zone key (flag ZONE is off)";
  if ((key.flags & FLAG_REVOKE) !== 0) return "is revoked (flag REVOKE, RFC 5011)";
  if (key.protocol !== 3) return "has a protocol other than 3";
  if (key.known === null) return "has an unsupported algorithm";
  return key.publicKey === null ? "cannot be read or has an unusable size" : null;
}

function importKey(key: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch {
    // The octets are not a point of the curve, or not a valid modulus.
    return null;
  }
}

const CURVES: Readonly<Record<Exclude<KeyKind, "rsa">, { kty: string; crv: string; octets: number; bits: number }>> = {
  p256: { kty: "EC", crv: "P-256", octets: 64, bits: 256 }, // RFC 6605 section 4
  p384: { kty: "EC", crv: "P-384", octets: 96, bits: 384 },
  ed25519: { kty: "OKP", crv: "Ed25519", octets: 32, bits: 256 }, // RFC 8080 section 3
  ed448: { kty: "OKP", crv: "Ed448", octets: 57, bits: 456 },
};

function toJwk(kind: KeyKind, octets: Uint8Array): { key: JsonWebKey; bits: number } | null {
  if (kind === "rsa") return rsaJwk(octets);
  const { kty, crv, octets: size, bits } = CURVES[kind];
  if (octets.length !== size) return null;
  if (kty === "OKP") return { key: { kty, crv, x: base64url(octets) }, bits };
  const half = size / 2;
  return { key: { kty, crv, x: base64url(octets.subarray(0, half)), y: base64url(octets.subarray(half)) }, bits };
}

/**
 * Reads an RSA key (RFC 3110 section 2): length of the exponent in one octet, or in two after a zero octet; then the
 * exponent; then the modulus. Returns null for sizes that are not accepted.
 */
function rsaJwk(octets: Uint8Array): { key: JsonWebKey; bits: number } | null {
  const [first = 0, second = 0, third = 0] = octets;
  const start = first === 0 ? 3 : 1;
  const length = first === 0 ? second * 256 + third : first;
  const exponent = withoutZeros(octets.subarray(start, start + length));
  const modulus = withoutZeros(octets.subarray(start + length));
  const bits = bitLength(modulus);
  const small = (exponent.at(-1) ?? 0) % 2 === 0 || bitLength(exponent) < 2;
  if (small || bitLength(exponent) > MAX_EXPONENT_BITS || bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) return null;
  return { key: { kty: "RSA", n: base64url(modulus), e: base64url(exponent) }, bits };
}

function withoutZeros(octets: Uint8Array): Uint8Array {
  const first = octets.findIndex((octet) => octet !== 0);
  return first < 0 ? new Uint8Array() : octets.subarray(first);
}

function bitLength(octets: Uint8Array): number {
  return octets.length === 0 ? 0 : (octets.length - 1) * 8 + (32 - Math.clz32(octets[0] ?? 0));
}

function base64url(octets: Uint8Array): string {
  return Buffer.from(octets).toString("base64url");
}

/** Reports whether the key made this signature over these octets. Returns false for a key with a fault. */
export function verifies(key: ZoneKey, signed: Uint8Array, signature: Uint8Array): boolean {
  const known = findAlgorithm(key.algorithm);
  if (known === null || key.publicKey === null || key.fault !== null) return false;
  // ECDSA signatures are r and s side by side (RFC 6605 section 4). For other keys, the option has no effect.
  return verify(known.hash, signed, { key: key.publicKey, dsaEncoding: "ieee-p1363" }, signature);
}
