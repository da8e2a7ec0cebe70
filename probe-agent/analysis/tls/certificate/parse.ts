import { isSameOctets } from "#shared/text/same-octets.ts";
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
  timeOf,
  type Der,
} from "#probe-agent/analysis/tls/certificate/der.ts";

/** Certificates as PEM text (one block or a bundle), or one certificate as DER octets. */
export type CertificateInput = string | Uint8Array;

/** An extension that is not decoded; `value` is the DER inside the OCTET STRING. */
export interface ExtensionValue {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** A parsed certificate (RFC 5280 section 4.1). Octet fields are views into `der`. */
export interface Certificate {
  readonly der: Uint8Array;
  /** 1, 2 or 3. */
  readonly version: number;
  /** Lower-case hexadecimal without leading zero octets. Negative numbers are shown in two's complement. */
  readonly serial: string;
  /** The serial number's octets, unchanged. */
  readonly serialNumber: Uint8Array;
  readonly signatureOid: string;
  /** DER of the signature's AlgorithmIdentifier, with its parameters. */
  readonly signatureAlgorithm: Uint8Array;
  /** DER Name. */
  readonly issuer: Uint8Array;
  /** DER Name. */
  readonly subject: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** Extensions by dotted OID. */
  readonly extensions: ReadonlyMap<string, ExtensionValue>;
}

/** Maximum size of a certificate in octets: far above any real one, and small enough to parse cheaply. */
const MAX_CERTIFICATE_BYTES = 262_144;

const PEM_BLOCK = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END/g;

/** Returns the DER of every certificate in the inputs, in order. */
export function toDer(inputs: CertificateInput | readonly CertificateInput[]): Uint8Array[] {
  const list = typeof inputs === "string" || inputs instanceof Uint8Array ? [inputs] : inputs;
  return list.flatMap((input) => {
    if (typeof input !== "string") return [input];
    return [...input.matchAll(PEM_BLOCK)].map(([, base64 = ""]) => Buffer.from(base64, "base64"));
  });
}

/** Parses a certificate. Returns null if the octets are not a certificate in DER, or exceed the size limit. */
export function parseCertificate(der: Uint8Array): Certificate | null {
  if (der.length > MAX_CERTIFICATE_BYTES) return null;
  try {
    return parse(der);
  } catch (error) {
    if (error instanceof MalformedDer) return null;
    throw error;
  }
}

function parse(der: Uint8Array): Certificate {
  const [tbs, outerAlgorithm, signature, ...more] = sequenceOf(der);
  bitString(signature);
  if (more.length > 0) throw new MalformedDer("certificate");
  const fields = childrenOf(expectTag(tbs, TAG.sequence).contents);
  const version = fields[0]?.tag === 0xa0 ? smallInteger(readDer(fields.shift()?.contents ?? new Uint8Array())) + 1 : 1;
  const [serial, algorithm, issuer, validity, subject, spki, ...optional] = fields;
  const signatureAlgorithm = expectTag(algorithm, TAG.sequence).whole;
  if (!isSameOctets(signatureAlgorithm, expectTag(outerAlgorithm).whole)) {
    throw new MalformedDer("the two signature algorithms differ");
  }
  const serialNumber = expectTag(serial, TAG.integer).contents;
  const [notBefore, notAfter] = childrenOf(expectTag(validity, TAG.sequence).contents);
  return {
    der,
    version,
    serial: serialText(serialNumber),
    serialNumber,
    signatureOid: algorithmOid(signatureAlgorithm),
    signatureAlgorithm,
    issuer: expectTag(issuer, TAG.sequence).whole,
    subject: expectTag(subject, TAG.sequence).whole,
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
    spki: expectTag(spki, TAG.sequence).whole,
    extensions: readExtensions(optional.find(({ tag }) => tag === 0xa3)),
  };
}

/** Returns the dotted OID of an AlgorithmIdentifier. Throws MalformedDer. */
export function algorithmOid(algorithm: Uint8Array): string {
  const [oid] = sequenceOf(algorithm);
  return oidText(expectTag(oid, TAG.oid).contents);
}

/**
 * Parses a list of extensions in an explicit tag, as in certificates, CRLs and OCSP responses. Returns the extensions
 * by dotted OID; an empty map if `wrapped` is undefined. Throws MalformedDer.
 */
export function readExtensions(wrapped: Der | undefined): ReadonlyMap<string, ExtensionValue> {
  const extensions = new Map<string, ExtensionValue>();
  if (!wrapped) return extensions;
  for (const extension of sequenceOf(wrapped.contents)) {
    const parts = childrenOf(expectTag(extension, TAG.sequence).contents);
    const oid = oidText(expectTag(parts[0], TAG.oid).contents);
    const flagged = parts[1]?.tag === TAG.boolean;
    const value = expectTag(parts[flagged ? 2 : 1], TAG.octetString).contents;
    // RFC 5280 section 4.2 forbids repeated extensions.
    if (extensions.has(oid)) throw new MalformedDer("repeated extension");
    extensions.set(oid, { critical: flagged && parts[1]?.contents[0] !== 0, value });
  }
  return extensions;
}

function serialText(contents: Uint8Array): string {
  const hex = Buffer.from(contents)
    .toString("hex")
    .replace(/^(?:00)+(?=..)/, "");
  return hex === "" ? "00" : hex;
}
