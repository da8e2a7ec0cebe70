import {
  bitString,
  childrenOf,
  expectTag,
  MalformedDer,
  oidText,
  readDer,
  sequenceOf,
  smallInteger,
  TAG,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** OIDs of extensions (RFC 5280 section 4.2, RFC 7633). */
export const EXTENSION = {
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  crlDistributionPoints: "2.5.29.31",
  certificatePolicies: "2.5.29.32",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  authorityInfoAccess: "1.3.6.1.5.5.7.1.1",
  tlsFeature: "1.3.6.1.5.5.7.1.24",
} as const;

/** A GeneralName (RFC 5280 section 4.2.1.6): the type by its context tag, and the contents as octets. */
export interface GeneralName {
  readonly kind: "other" | "email" | "dns" | "x400" | "directory" | "edi" | "uri" | "ip" | "registered";
  readonly contents: Uint8Array;
}

const KINDS: readonly GeneralName["kind"][] = [
  "other",
  "email",
  "dns",
  "x400",
  "directory",
  "edi",
  "uri",
  "ip",
  "registered",
];

/** Key usage names by bit (RFC 5280 section 4.2.1.3). */
const KEY_USAGES = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const;

/** One of the nine key usages. */
type KeyUsage = (typeof KEY_USAGES)[number];

// Functions that take a certificate throw MalformedDer if the extension is unreadable. They return null, an empty list
// or false if it is absent.

/** Parses basicConstraints. `pathLength` is null if it is unlimited. */
export function basicConstraints(certificate: Certificate): { ca: boolean; pathLength: number | null } | null {
  const value = certificate.extensions.get(EXTENSION.basicConstraints)?.value;
  if (!value) return null;
  const parts = sequenceOf(value);
  const ca = parts[0]?.tag === TAG.boolean && parts[0].contents[0] !== 0;
  const length = parts.find(({ tag }) => tag === TAG.integer);
  return { ca, pathLength: length ? smallInteger(length) : null };
}

/** Returns the names of the key usages. */
export function keyUsages(certificate: Certificate): KeyUsage[] | null {
  const value = certificate.extensions.get(EXTENSION.keyUsage)?.value;
  if (!value) return null;
  const bits = bitString(readDer(value));
  return KEY_USAGES.filter((_name, bit) => ((bits[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

/** Returns the OIDs of the extended key usages. */
export function extendedKeyUsages(certificate: Certificate): string[] | null {
  const value = certificate.extensions.get(EXTENSION.extendedKeyUsage)?.value;
  return value ? sequenceOf(value).map((oid) => oidText(expectTag(oid, TAG.oid).contents)) : null;
}

/** Returns the subjectAltName entries in order. */
export function subjectAltNames(certificate: Certificate): GeneralName[] | null {
  const value = certificate.extensions.get(EXTENSION.subjectAltName)?.value;
  return value ? sequenceOf(value).map(generalName) : null;
}

/** Returns the octets of subjectKeyIdentifier. */
export function subjectKeyId(certificate: Certificate): Uint8Array | null {
  const value = certificate.extensions.get(EXTENSION.subjectKeyId)?.value;
  return value ? readDer(value, TAG.octetString).contents : null;
}

/**
 * Returns the key identifier in authorityKeyIdentifier; null also if it identifies the issuer only by serial number.
 */
export function authorityKeyId(certificate: Certificate): Uint8Array | null {
  const value = certificate.extensions.get(EXTENSION.authorityKeyId)?.value;
  return (value && sequenceOf(value).find(({ tag }) => tag === 0x80)?.contents) ?? null;
}

/** Returns the OIDs of the certificate policies. */
export function policyOids(certificate: Certificate): string[] | null {
  const value = certificate.extensions.get(EXTENSION.certificatePolicies)?.value;
  if (!value) return null;
  return sequenceOf(value).map((policy) => {
    const [oid] = childrenOf(expectTag(policy, TAG.sequence).contents);
    return oidText(expectTag(oid, TAG.oid).contents);
  });
}

/** Returns the URIs of an access method in authorityInfoAccess: OCSP 1.3.6.1.5.5.7.48.1, caIssuers ...48.2. */
export function accessLocations(certificate: Certificate, method: string): string[] {
  const value = certificate.extensions.get(EXTENSION.authorityInfoAccess)?.value;
  if (!value) return [];
  return sequenceOf(value).flatMap((description) => {
    const [oid, location] = childrenOf(expectTag(description, TAG.sequence).contents);
    return oidText(expectTag(oid, TAG.oid).contents) === method ? uriOf(expectTag(location)) : [];
  });
}

/** Returns the URIs of all CRL distribution points. */
export function crlUrls(certificate: Certificate): string[] {
  return distributionPoints(certificate).flatMap(({ urls }) => urls);
}

/**
 * Returns the URIs of complete lists: by the certificate's issuer, for all revocation reasons. Only such a list can
 * confirm that a certificate is good.
 */
export function completeCrlUrls(certificate: Certificate): string[] {
  return distributionPoints(certificate).flatMap(({ urls, isComplete }) => (isComplete ? urls : []));
}

/** Parses CRL distribution points (RFC 5280 section 4.2.1.13): [0] is the name, [1] the reasons, [2] another issuer. */
function distributionPoints(certificate: Certificate): { urls: string[]; isComplete: boolean }[] {
  const value = certificate.extensions.get(EXTENSION.crlDistributionPoints)?.value;
  if (!value) return [];
  return sequenceOf(value).map((point) => {
    const fields = childrenOf(expectTag(point, TAG.sequence).contents);
    const isComplete = !fields.some(({ tag }) => tag === 0x81 || tag === 0xa2);
    const name = fields.find(({ tag }) => tag === 0xa0);
    const full = name && readDer(name.contents);
    return { urls: full?.tag === 0xa0 ? childrenOf(full.contents).flatMap(uriOf) : [], isComplete };
  });
}

/** Reports whether the TLS feature extension requires a stapled OCSP response (RFC 7633: status_request, 5). */
export function mustStaple(certificate: Certificate): boolean {
  const value = certificate.extensions.get(EXTENSION.tlsFeature)?.value;
  return value ? sequenceOf(value).some((feature) => smallInteger(feature) === 5) : false;
}

/** Decodes a context-tagged value as a GeneralName. Throws MalformedDer. */
export function generalName({ tag, contents }: Der): GeneralName {
  const kind = (tag & 0xc0) === 0x80 ? KINDS[tag & 0x1f] : undefined;
  if (kind === undefined) throw new MalformedDer("general name");
  return { kind, contents };
}

function uriOf(value: Der): string[] {
  const { kind, contents } = generalName(value);
  return kind === "uri" ? [Buffer.from(contents).toString("latin1")] : [];
}
