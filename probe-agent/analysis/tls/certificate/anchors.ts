import { isSameOctets } from "#shared/same-octets.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { authorityKeyId, subjectKeyId } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { canonicalName, readName } from "#probe-agent/analysis/tls/certificate/names.ts";
import {
  parseCertificate,
  toDer,
  type Certificate,
  type CertificateInput,
} from "#probe-agent/analysis/tls/certificate/parse.ts";

/** A certificate with what path building looks at again and again. */
export interface Entry {
  readonly certificate: Certificate;
  readonly isAnchor: boolean;
  /** Equal text for equal names. */
  readonly subjectKey: string;
  readonly issuerKey: string;
  /** Equal text for equal public keys. */
  readonly publicKey: string;
  /** Hexadecimal key identifiers, null where absent. */
  readonly subjectKeyId: string | null;
  readonly authorityKeyId: string | null;
}

/** Trust anchors by subject. */
export interface Anchors {
  named(subjectKey: string): readonly Entry[];
  /** Whether this very certificate is an anchor. */
  has(certificate: Certificate): boolean;
}

const indexes = new WeakMap<object, Anchors>();

/** Indexes anchors; the same array is indexed once, so that an agent's root list costs its parsing only once. */
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

/** Wraps a certificate for path building. */
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

/** Whether two DER Names are the same name (RFC 5280 section 7.1). */
export function isSameName(one: Uint8Array, other: Uint8Array): boolean {
  return isSameOctets(one, other) || nameKey(one) === nameKey(other);
}

/** The same octets. */
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
