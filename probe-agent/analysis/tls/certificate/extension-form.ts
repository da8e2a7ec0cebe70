import { isAscii } from "node:buffer";
import { nameConstraints } from "#probe-agent/analysis/tls/certificate/constraints.ts";
import { bitString, readDer, sequenceOf, smallInteger, TAG } from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  accessLocations,
  authorityKeyId,
  basicConstraints,
  crlUrls,
  EXTENSION,
  extendedKeyUsages,
  keyUsages,
  mustStaple,
  policyOids,
  subjectKeyId,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isEmptyName, isTrue } from "#probe-agent/analysis/tls/certificate/structure.ts";

// Every exported function checks one rule. It returns the fault as the end of a sentence about the certificate, or
// null. It throws MalformedDer for an extension that cannot be read.

const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
/** Maximum path length: Chrome reads one octet. */
const MAX_PATH_LENGTH = 255;

/**
 * Critical extensions that Chrome, Firefox, Go and OpenSSL all support. Key identifiers and authority information
 * access are not listed because they must not be critical (RFC 5280 sections 4.2.1.1, 4.2.1.2 and 4.2.2.1).
 */
const HANDLED: ReadonlySet<string> = new Set([
  EXTENSION.keyUsage,
  EXTENSION.subjectAltName,
  EXTENSION.basicConstraints,
  EXTENSION.nameConstraints,
  EXTENSION.certificatePolicies,
  EXTENSION.extendedKeyUsage,
  "2.5.29.36", // policyConstraints
  "2.5.29.54", // inhibitAnyPolicy
]);

/** Names, as administrators know them, of extensions that are sometimes critical by mistake. */
const EXTENSION_NAMES: Readonly<Record<string, string>> = {
  [EXTENSION.subjectKeyId]: "subject key identifier",
  [EXTENSION.authorityKeyId]: "authority key identifier",
  [EXTENSION.authorityInfoAccess]: "authority information access",
  [EXTENSION.crlDistributionPoints]: "list of CRL distribution points",
  [EXTENSION.tlsFeature]: "TLS feature (must-staple)",
  "2.5.29.33": "list of policy mappings",
};

/** Checks that alternative names are critical if the subject is empty (RFC 5280 section 4.1.2.6). */
export function emptySubjectFault({ subject, extensions }: Certificate): string | null {
  const names = extensions.get(EXTENSION.subjectAltName);
  const bad = names !== undefined && !names.critical && isEmptyName(subject);
  return bad ? "its subject is empty and its alternative names are not critical" : null;
}

/** Tags of the types of GeneralName, with the constructed bit if the type is constructed (RFC 5280 section 4.2.1.6). */
const NAME_TAGS: ReadonlySet<number> = new Set([0xa0, 0x81, 0x82, 0xa3, 0xa4, 0xa5, 0x86, 0x87, 0x88]);
const TEXT_TAGS: ReadonlySet<number> = new Set([0x81, 0x82, 0x86]);
const ADDRESS_TAG = 0x87;
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

/**
 * Checks that there is at least one alternative name, each of a known type, text in ASCII, addresses of 4 or 16 octets
 * (RFC 5280 section 4.2.1.6).
 */
export function alternativeNamesFault({ extensions }: Certificate): string | null {
  const value = extensions.get(EXTENSION.subjectAltName)?.value;
  if (value === undefined) return null;
  const names = sequenceOf(value);
  if (names.length === 0) return "its list of alternative names is empty";
  if (names.some(({ tag }) => !NAME_TAGS.has(tag))) return "an alternative name has an unknown type";
  if (names.some(({ tag, contents }) => TEXT_TAGS.has(tag) && !isAscii(contents))) {
    return "an alternative name is not ASCII";
  }
  const addresses = names.filter(({ tag }) => tag === ADDRESS_TAG);
  if (addresses.some(({ contents }) => contents.length !== 4 && contents.length !== 16)) {
    return "an alternative name is an address of neither 4 nor 16 octets";
  }
  const mapped = addresses.some(({ contents }) => contents.length === 16 && MAPPED.equals(contents.subarray(0, 12)));
  return mapped ? "an alternative name is an IPv4 address written as IPv6" : null;
}

/** Checks basicConstraints (RFC 5280 section 4.2.1.9), with a path length of one octet as Chrome requires. */
export function basicConstraintsFault({ extensions }: Certificate): string | null {
  const value = extensions.get(EXTENSION.basicConstraints)?.value;
  if (value === undefined) return null;
  const parts = sequenceOf(value);
  const [first] = parts;
  const rest = first?.tag === TAG.boolean ? parts.slice(1) : parts;
  // An explicit FALSE is not DER, but it is common and all clients accept it.
  if (first?.tag === TAG.boolean && !isTrue(first) && first.contents[0] !== 0) return "its cA is not a valid BOOLEAN";
  if (rest.length > 1) return "its basicConstraints have too many fields";
  const tooLong = rest[0] !== undefined && smallInteger(rest[0]) > MAX_PATH_LENGTH;
  return tooLong ? `its path length is above ${MAX_PATH_LENGTH}` : null;
}

/**
 * Checks that keyUsage has at least one bit (RFC 5280 section 4.2.1.3) and unused bits are zero (X.690 section 11.2.1).
 */
export function keyUsageFault({ extensions }: Certificate): string | null {
  const value = extensions.get(EXTENSION.keyUsage)?.value;
  if (value === undefined) return null;
  const field = readDer(value, TAG.bitString);
  const bits = bitString(field);
  if (bits.every((octet) => octet === 0)) return "its key usage has no bit set";
  const unused = (1 << (field.contents[0] ?? 0)) - 1;
  return ((bits.at(-1) ?? 0) & unused) === 0 ? null : "its key usage is not valid DER";
}

/** Checks that extendedKeyUsage is not empty: it is SIZE (1..MAX) (RFC 5280 section 4.2.1.12). */
export function extendedKeyUsageFault(certificate: Certificate): string | null {
  return extendedKeyUsages(certificate)?.length === 0 ? "its list of extended key usages is empty" : null;
}

/**
 * Checks that extendedKeyUsage includes serverAuth. As in mozilla::pkix (MatchEKU) and OpenSSL (purpose sslserver),
 * anyExtendedKeyUsage is not enough.
 */
export function serverAuthFault(certificate: Certificate): string | null {
  const named = extendedKeyUsages(certificate);
  return named === null || named.includes(SERVER_AUTH) ? null : "its extended key usages do not include serverAuth";
}

/** Checks that name constraints can be parsed (RFC 5280 section 4.2.1.10). */
export function nameConstraintsFault(certificate: Certificate): string | null {
  nameConstraints(certificate);
  return null;
}

/**
 * Checks key identifiers: authorityCertIssuer and authorityCertSerialNumber are both present or both absent (RFC 5280
 * section 4.2.1.1).
 */
export function keyIdentifiersFault(certificate: Certificate): string | null {
  subjectKeyId(certificate);
  authorityKeyId(certificate);
  const value = certificate.extensions.get(EXTENSION.authorityKeyId)?.value;
  const tags = new Set((value === undefined ? [] : sequenceOf(value)).map(({ tag }) => tag));
  return tags.has(0xa1) === tags.has(0x82)
    ? null
    : "its authority key identifier has only one of issuer and serial number";
}

/** Checks extensions that do not affect trust. A certificate with an unreadable extension is not trusted. */
export function otherExtensionsFault(certificate: Certificate): string | null {
  crlUrls(certificate);
  mustStaple(certificate);
  accessLocations(certificate, "");
  const access = certificate.extensions.get(EXTENSION.authorityInfoAccess)?.value;
  if (access !== undefined && sequenceOf(access).length === 0) return "its authority information access is empty";
  const policies = policyOids(certificate) ?? [];
  if (certificate.extensions.has(EXTENSION.certificatePolicies) && policies.length === 0) {
    return "its list of policies is empty";
  }
  return new Set(policies).size < policies.length ? "it names a policy twice" : null;
}

/** Checks for critical extensions that some client does not support and therefore refuses (RFC 5280 section 4.2). */
export function criticalExtensionFault({ extensions }: Certificate): string | null {
  const unhandled = [...extensions].filter(([oid, { critical }]) => critical && !HANDLED.has(oid)).map(([oid]) => oid);
  const [first] = unhandled;
  if (first === undefined) return null;
  return `its ${EXTENSION_NAMES[first] ?? `extension ${first}`} is marked critical, but not all of them support it`;
}

/**
 * Checks that a server's certificate is not a CA certificate (Baseline Requirements section 7.1.2.7.8; mozilla::pkix:
 * CA_CERT_USED_AS_END_ENTITY).
 */
export function authorityLeafFault(leaf: Certificate): string | null {
  return basicConstraints(leaf)?.ca === true ? "it is a CA certificate (cA is TRUE)" : null;
}

/** Checks that keyCertSign is not set without cA (RFC 5280 section 4.2.1.9). */
export function keyCertSignFault(leaf: Certificate): string | null {
  const signs = keyUsages(leaf)?.includes("keyCertSign") ?? false;
  const isAuthority = basicConstraints(leaf)?.ca === true;
  return signs && !isAuthority ? "it is allowed to sign certificates but is not a CA certificate" : null;
}

/** Checks that a server's certificate is not an OCSP responder's (mozilla::pkix CheckExtendedKeyUsage). */
export function ocspSigningFault(leaf: Certificate): string | null {
  return extendedKeyUsages(leaf)?.includes(OCSP_SIGNING) === true ? "it is also for signing OCSP responses" : null;
}
