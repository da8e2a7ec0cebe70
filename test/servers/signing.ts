import { constants, createHash, createPrivateKey, sign } from "node:crypto";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { ascii, der, integer, sequence } from "#test/servers/der.ts";
import type { Issued } from "#test/servers/pki.ts";

/** Hashes a signature can be made with. */
export type SigningHash = "sha1" | "sha256" | "sha384" | "sha512";

/** How something is signed; the default suits the key, with SHA-256. */
export interface Signing {
  readonly hash?: SigningHash;
  /** RSASSA-PSS in the place of PKCS #1. */
  readonly pss?: boolean;
}

const RSA = { sha1: 5, sha256: 11, sha384: 12, sha512: 13 } as const;
const ECDSA = { sha1: "1", sha256: "3.2", sha384: "3.3", sha512: "3.4" } as const;
const HASHES = {
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
} as const;
const SALT = 32;

/** Returns the DER of the algorithm and of the signature, which follow the signed part. */
export function signed(
  signer: Issued,
  data: Uint8Array,
  { hash = "sha256", pss = false }: Signing = {},
): { readonly algorithm: Uint8Array; readonly signature: Uint8Array } {
  const algorithm = algorithmOf(signer, { hash, pss });
  const key = createPrivateKey(signer.keyPem);
  const edwards = key.asymmetricKeyType === "ed25519";
  const input = pss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT } : key;
  const octets = sign(edwards ? null : hash, data, input);
  return { algorithm, signature: bits(octets) };
}

/** AlgorithmIdentifier of what `signed` makes. */
export function algorithmOf(signer: Issued, { hash = "sha256", pss = false }: Signing = {}): Uint8Array {
  const kind = createPrivateKey(signer.keyPem).asymmetricKeyType;
  if (kind === "ed25519") return sequence(oid("1.3.101.112"));
  if (kind === "ec") return sequence(oid(`1.2.840.10045.4.${ECDSA[hash]}`));
  if (!pss) return sequence(oid(`1.2.840.113549.1.1.${RSA[hash]}`), der(0x05));
  const digest = sequence(oid(HASHES[hash]), der(0x05));
  const mask = sequence(oid("1.2.840.113549.1.1.8"), digest);
  const parameters = sequence(der(0xa0, digest), der(0xa1, mask), der(0xa2, integer(SALT)));
  return sequence(oid("1.2.840.113549.1.1.10"), parameters);
}

/** AlgorithmIdentifier of a hash alone. */
export function hashAlgorithm(hash: SigningHash): Uint8Array {
  return sequence(oid(HASHES[hash]), der(0x05));
}

/** OBJECT IDENTIFIER of dotted text. */
export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const low = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) low.unshift((left & 0x7f) | 0x80);
    return low;
  });
  return der(0x06, Uint8Array.from(octets));
}

/** GeneralizedTime. */
export function generalizedTime(date: Date): Uint8Array {
  return ascii(0x18, `${date.toISOString().replaceAll(/[-:T]|\.\d+Z/g, "")}Z`);
}

/** UTCTime. */
export function utcTime(date: Date): Uint8Array {
  return ascii(
    0x17,
    `${date
      .toISOString()
      .slice(2)
      .replaceAll(/[-:T]|\.\d+Z/g, "")}Z`,
  );
}

/** BIT STRING without unused bits. */
export function bits(octets: Uint8Array): Uint8Array {
  return der(0x03, Uint8Array.of(0), octets);
}

/** An extension, its value as DER. */
export function extension(dotted: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(oid(dotted), ...(critical ? [der(0x01, Uint8Array.of(0xff))] : []), der(0x04, value));
}

/** A certificate made by the builders, taken apart. */
export function parsed({ der: octets }: Issued): Certificate {
  const certificate = parseCertificate(octets);
  if (certificate === null) throw new Error("the builders make certificates");
  return certificate;
}

/** Hash of a certificate's public key without its algorithm, as OCSP names keys. */
export function publicKeyHash(issued: Issued, hash: SigningHash): Uint8Array {
  const { spki } = parsed(issued);
  // The last value of SubjectPublicKeyInfo is the BIT STRING; its contents begin with the count of unused bits.
  const length = bitStringLength(spki);
  return createHash(hash)
    .update(spki.subarray(spki.length - length))
    .digest();
}

function bitStringLength(spki: Uint8Array): number {
  for (let at = 0; at < spki.length; at += 1) {
    if (spki[at] !== 0x03) continue;
    const first = spki[at + 1] ?? 0;
    const size = first < 0x80 ? 0 : first & 0x7f;
    const length = size === 0 ? first : Buffer.from(spki).readUIntBE(at + 2, size);
    if (at + 2 + size + length === spki.length) return length - 1;
  }
  throw new Error("a key ends in a BIT STRING");
}
