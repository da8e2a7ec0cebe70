import { createHash } from "node:crypto";
import { isSameOctets } from "#shared/text/same-octets.ts";
import {
  bitString,
  childrenOf,
  expectTag,
  oidText,
  sequenceOf,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { encodeDer, encodeOid, encodeSequence } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { DIGESTS } from "#probe-agent/analysis/tls/certificate/signature.ts";

/**
 * Identifier of a certificate in OCSP: serial number, and hashes of the issuer's name and key (RFC 6960 section 4.1.1).
 */
export interface CertId {
  /** Node's name of the hash; null if the hash is unknown. */
  readonly hash: string | null;
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  readonly serialNumber: Uint8Array;
}

/** Hash algorithms for the issuer's name and key in a request. */
export type RequestHash = "sha1" | "sha256";

const OIDS: Readonly<Record<RequestHash, string>> = { sha1: "1.3.14.3.2.26", sha256: "2.16.840.1.101.3.4.2.1" };

/** Parses a CertID. Throws MalformedDer. */
export function readCertId(value: Der | undefined): CertId {
  const [algorithm, name, key, serial] = childrenOf(expectTag(value, TAG.sequence).contents);
  const [oid] = childrenOf(expectTag(algorithm, TAG.sequence).contents);
  return {
    hash: DIGESTS[oidText(expectTag(oid, TAG.oid).contents)] ?? null,
    issuerNameHash: expectTag(name, TAG.octetString).contents,
    issuerKeyHash: expectTag(key, TAG.octetString).contents,
    serialNumber: expectTag(serial, TAG.integer).contents,
  };
}

/** Reports whether a CertID identifies this certificate of this issuer, with the hash that the CertID uses. */
export function matchesCertificate(id: CertId, certificate: Certificate, issuer: Certificate): boolean {
  if (id.hash === null || !isSameOctets(id.serialNumber, certificate.serialNumber)) return false;
  const name = createHash(id.hash).update(certificate.issuer).digest();
  return name.equals(id.issuerNameHash) && keyHash(issuer, id.hash).equals(id.issuerKeyHash);
}

/** Hashes the octets in the BIT STRING of a certificate's public key (RFC 6960 section 4.1.1). Throws MalformedDer. */
export function keyHash({ spki }: Certificate, hash: string): Buffer {
  const [, key] = sequenceOf(spki);
  return createHash(hash).update(bitString(key)).digest();
}

/**
 * Encodes a request for one certificate without nonce and signature, as RFC 5019 section 2.1.1 requires. Throws
 * MalformedDer.
 */
export function encodeOcspRequest(certificate: Certificate, issuer: Certificate, hash: RequestHash): Uint8Array {
  const algorithm = encodeSequence(encodeOid(OIDS[hash]), encodeDer(TAG.null));
  const certId = encodeSequence(
    algorithm,
    encodeDer(TAG.octetString, createHash(hash).update(certificate.issuer).digest()),
    encodeDer(TAG.octetString, keyHash(issuer, hash)),
    encodeDer(TAG.integer, certificate.serialNumber),
  );
  const requestList = encodeSequence(encodeSequence(certId));
  return encodeSequence(encodeSequence(requestList));
}
