import { isSameOctets } from "#shared/text/same-octets.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { authorityKeyId, subjectKeyId } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { canonicalName, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import {
  parseCertificate,
  toDer,
  type Certificate,
  type CertificateInput,
} from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A certificate with the values that path building uses repeatedly. */
export interface Entry {
  readonly certificate: Certificate;
  readonly isAnchor: boolean;
  /** Key of the subject; equal names have equal keys. */
  readonly subjectKey: string;
  /** Key of the issuer's name, as subjectKey. */
  readonly issuerKey: string;
  /** Key of the public key; equal public keys have equal keys. */
  readonly publicKey: string;
  /** Hexadecimal; null if absent or unreadable. */
  readonly subjectKeyId: string | null;
  /** Hexadecimal; null if absent or unreadable. */
  readonly authorityKeyId: string | null;
}

/** Index of trust anchors. */
export interface Anchors {
  /** Returns the anchors with a subject. */
  named(subjectKey: string): readonly Entry[];
  /** Reports whether a certificate with the same octets is an anchor. */
  has(certificate: Certificate): boolean;
}

const indexes = new WeakMap<object, Anchors>();

/** Indexes anchors. The same array is indexed once, so that an agent parses its root list only once. */
export function anchorsOf(roots: CertificateInput | readonly CertificateInput[]): Anchors {
  const known = typeof roots === "string" ? undefined : indexes.get(roots);
  if (known) return known;
  const bySubject = Map.groupBy(
    toDer(roots).flatMap((der) => {
      const certificate = parseCertificate(der);
      return certificate ? [entryOf(certificate, true)] : [];
    }),
    ({ subjectKey }) => subjectKey,
  );
  const anchors: Anchors = {
    named: (subjectKey) => bySubject.get(subjectKey) ?? [],
    has: (certificate) =>
      (bySubject.get(nameKey(certificate.subject)) ?? []).some((anchor) => isSame(anchor.certificate, certificate)),
  };
  if (typeof roots !== "string") indexes.set(roots, anchors);
  return anchors;
}

/** Creates the entry of a certificate for path building. */
export function entryOf(certificate: Certificate, isAnchor: boolean): Entry {
  return {
    certificate,
    isAnchor,
    subjectKey: nameKey(certificate.subject),
    issuerKey: nameKey(certificate.issuer),
    publicKey: Buffer.from(certificate.spki).toString("latin1"),
    subjectKeyId: keyIdOf(certificate, subjectKeyId),
    authorityKeyId: keyIdOf(certificate, authorityKeyId),
  };
}

/** Reports whether two DER Names are equal (RFC 5280 section 7.1). */
export function isSameName(one: Uint8Array, other: Uint8Array): boolean {
  return isSameOctets(one, other) || nameKey(one) === nameKey(other);
}

/** Reports whether two certificates have the same octets. */
export function isSame(one: Certificate, other: Certificate): boolean {
  return isSameOctets(one.der, other.der);
}

function nameKey(der: Uint8Array): string {
  try {
    return canonicalName(readName(der)).join("\u0000/");
  } catch (error) {
    if (error instanceof MalformedDer) return Buffer.from(der).toString("hex");
    throw error;
  }
}

function keyIdOf(certificate: Certificate, read: (of: Certificate) => Uint8Array | null): string | null {
  try {
    const id = read(certificate);
    return id && Buffer.from(id).toString("hex");
  } catch (error) {
    if (error instanceof MalformedDer) return null;
    throw error;
  }
}
