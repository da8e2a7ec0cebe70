import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { encodeOid } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import { der, sequence } from "#test/servers/der.ts";

/** A key pair with its DER SubjectPublicKeyInfo. */
export interface Keys {
  readonly privateKey: KeyObject;
  readonly spki: Uint8Array;
}

/** A v3 extension; `value` is the DER inside the OCTET STRING. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** Every field of a certificate, nothing checked: what is wrong here is written as it is. */
export interface Fields {
  /** DER of the version field; empty for version 1. */
  readonly version: Uint8Array;
  /** Contents of the serial number's INTEGER. */
  readonly serial: Uint8Array;
  /** DER Names. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
  /** DER written instead of the list of extensions, tag [3] included. */
  readonly extensionField?: Uint8Array;
  /** DER between key and extensions: unique identifiers. */
  readonly uniqueIds?: Uint8Array;
  /** DER behind the last field. */
  readonly trailer?: Uint8Array;
  /** DER AlgorithmIdentifier outside, where it is not the one inside. */
  readonly outerAlgorithm?: Uint8Array;
  readonly signer: Signer;
}

/** Who signs, and how. */
export interface Signer {
  readonly key: KeyObject;
  readonly hash: "sha1" | "sha224" | "sha256" | null;
  /** DER AlgorithmIdentifier. */
  readonly algorithm: Uint8Array;
}

const ECDSA_OIDS = { sha1: "1.2.840.10045.4.1", sha224: "1.2.840.10045.4.3.1", sha256: "1.2.840.10045.4.3.2" } as const;

/** Makes a P-256 pair. */
export function makeKeys(): Keys {
  return keysOf(generateKeyPairSync("ec", { namedCurve: "prime256v1" }));
}

/** Wraps a pair of Node's. */
export function keysOf({ privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject }): Keys {
  return { privateKey, spki: publicKey.export({ type: "spki", format: "der" }) };
}

/** A signer by ECDSA. */
export function ecdsaSigner({ privateKey }: Keys, hash: keyof typeof ECDSA_OIDS = "sha256"): Signer {
  return { key: privateKey, hash, algorithm: sequence(encodeOid(ECDSA_OIDS[hash])) };
}

/** DER of the certificate. */
export function writeCertificate(fields: Fields): Uint8Array {
  const { version, serial, issuer, subject, notBefore, notAfter, spki, signer } = fields;
  const { extensions, extensionField, uniqueIds, trailer, outerAlgorithm = signer.algorithm } = fields;
  const listed = extensions.length === 0 ? new Uint8Array() : der(0xa3, sequence(...extensions.map(writeExtension)));
  const tbs = sequence(
    version,
    der(0x02, serial),
    signer.algorithm,
    issuer,
    sequence(writeTime(notBefore), writeTime(notAfter)),
    subject,
    spki,
    uniqueIds ?? new Uint8Array(),
    extensionField ?? listed,
    trailer ?? new Uint8Array(),
  );
  const signature = sign(signer.hash, tbs, signer.key);
  return sequence(tbs, outerAlgorithm, der(0x03, Uint8Array.of(0), signature));
}

/** DER of one extension; criticality is left out where it is false. */
export function writeExtension({ oid, critical, value }: Extension): Uint8Array {
  const flag = critical ? der(0x01, Uint8Array.of(0xff)) : new Uint8Array();
  return sequence(encodeOid(oid), flag, der(0x04, value));
}

/** A version field [0]; the number as encoded, 2 for version 3. */
export function versionField(number: number): Uint8Array {
  return der(0xa0, der(0x02, Uint8Array.of(number)));
}

/** A Name of one common name; the tag is that of its string type. */
export function commonName(text: string, tag = 0x0c): Uint8Array {
  return sequence(der(0x31, sequence(encodeOid("2.5.4.3"), der(tag, Buffer.from(text, "latin1")))));
}

/** Key identifier: SHA-1 of the public key's DER. */
export function keyId({ spki }: Pick<Keys, "spki">): Uint8Array {
  return createHash("sha1").update(spki).digest();
}

/** The certificate as PEM. */
export function pemOf(octets: Uint8Array): string {
  const lines = Buffer.from(octets)
    .toString("base64")
    .replaceAll(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function writeTime(date: Date): Uint8Array {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  const late = date.getUTCFullYear() >= 2050;
  return der(late ? 0x18 : 0x17, Buffer.from(late ? digits : digits.slice(2)));
}
