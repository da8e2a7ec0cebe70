import {
  MalformedDer,
  childrenOf,
  expectTag,
  oidText,
  sequenceOf,
  smallInteger,
  readDer,
  TAG,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  alternativeNamesFault,
  basicConstraintsFault,
  criticalExtensionFault,
  emptySubjectFault,
  authorityLeafFault,
  keyIdentifiersFault,
  nameConstraintsFault,
  otherExtensionsFault,
  serverAuthFault,
  extendedKeyUsageFault,
  ocspSigningFault,
  keyCertSignFault,
  keyUsageFault,
} from "#probe-agent/analysis/tls/certificate/extension-form.ts";
import { isWeakSignature } from "#probe-agent/analysis/tls/certificate/keys.ts";
import { type Certificate, algorithmOid } from "#probe-agent/analysis/tls/certificate/parse.ts";
import {
  hasPositiveSerial,
  hasValidExtensionList,
  hasValidFields,
  hasValidVersion,
  isMinimalInteger,
  isValidName,
} from "#probe-agent/analysis/tls/certificate/structure.ts";
import { DIGESTS } from "#probe-agent/analysis/tls/certificate/signature.ts";

/** A form rule that a certificate breaks. Form rules concern the encoding and the extensions of a certificate. */
export interface FormFault {
  readonly error: "malformed" | "wrong_usage" | "unknown_critical_extension" | "weak_key" | "weak_signature";
  /**
   * Clients that enforce the rule, as the subject of "refuse"; null if the rule is in RFC 5280 but no client is known
   * to enforce it today.
   */
  readonly clients: string | null;
  /** The fault, as the end of a sentence about the certificate. */
  readonly what: string;
}

/** Returns the fault as the end of a sentence, or null if there is none. Throws MalformedDer. */
type Check = (certificate: Certificate) => string | null;
type Rule = readonly [error: FormFault["error"], clients: string | null, check: Check];

/**
 * Rules for every certificate of a path. Sources: Chrome's net/cert/pki (parse_certificate, parsed_certificate,
 * general_names, verify_certificate_chain), Firefox's mozilla::pkix (pkixcheck, pkixcert), Go's crypto/x509 (parser),
 * and OpenSSL 3.0's x509_vfy and v3_purp.
 */
const RULES: readonly Rule[] = [
  ["malformed", "Chrome and Go", failing(hasValidVersion, "its version is not a DER encoding of 1, 2 or 3")],
  ["malformed", "Go", failing(hasPositiveSerial, "its serial number is negative")],
  [
    "malformed",
    "All clients",
    failing(({ serialNumber }) => isMinimalInteger(serialNumber), "its serial number is not valid DER"),
  ],
  ["malformed", "Chrome", failing(hasValidFields, "it has fields that its version does not allow")],
  ["malformed", "Chrome", failing(hasValidExtensionList, "its list of extensions is empty or not valid DER")],
  ["malformed", "Chrome and Go", failing(({ subject }) => isValidName(subject), "its subject is not a valid DER name")],
  ["malformed", "Chrome and Go", failing(({ issuer }) => isValidName(issuer), "its issuer is not a valid DER name")],
  ["malformed", "Chrome", emptySubjectFault],
  ["malformed", "Chrome and Go", alternativeNamesFault],
  ["malformed", "Chrome, Firefox and Go", basicConstraintsFault],
  ["malformed", "Chrome and Firefox", keyUsageFault],
  ["malformed", "Chrome and Firefox", extendedKeyUsageFault],
  ["malformed", "Chrome and Go", nameConstraintsFault],
  ["malformed", "Chrome", keyIdentifiersFault],
  ["malformed", "Chrome and Go", otherExtensionsFault],
  ["unknown_critical_extension", "Browsers", criticalExtensionFault],
  ["weak_key", "Browsers", (certificate) => prefixed("its key ", keyFormFault(certificate))],
  ["wrong_usage", "Firefox and OpenSSL", serverAuthFault],
];

/** Additional rules for the server's own certificate. */
const LEAF_RULES: readonly Rule[] = [["wrong_usage", "Firefox", ocspSigningFault]];

/**
 * Additional rules for the server's own certificate unless it is a trust anchor. Chrome, Go and OpenSSL accept a
 * server's certificate that is a CA certificate if the operator made it an anchor.
 */
const ISSUED_LEAF_RULES: readonly Rule[] = [
  ["wrong_usage", "Firefox", authorityLeafFault],
  ["wrong_usage", null, keyCertSignFault],
];

/**
 * Rule for the signature of every certificate except an anchor, whose signature proves nothing. SHA-1 and older hashes
 * pass here because they have a separate fault and warning.
 */
const SIGNATURE_RULE: Rule = [
  "weak_signature",
  "Browsers",
  failing(
    (certificate) => isWeakSignature(certificate) || isKnownSignature(certificate),
    "it is signed by an algorithm that browsers do not verify",
  ),
];

const known = new WeakMap<Certificate, Map<string, readonly FormFault[]>>();

/**
 * Finds the form rules that a certificate breaks at its place on a path. Results are kept for each certificate and
 * place.
 */
export function formFaults(
  certificate: Certificate,
  place: { isLeaf: boolean; isAnchor: boolean },
): readonly FormFault[] {
  const row = known.get(certificate) ?? new Map<string, readonly FormFault[]>();
  known.set(certificate, row);
  const key = `${place.isLeaf} ${place.isAnchor}`;
  const found = row.get(key);
  if (found) return found;
  const rules = [
    ...RULES,
    ...(place.isLeaf ? LEAF_RULES : []),
    ...(place.isLeaf && !place.isAnchor ? ISSUED_LEAF_RULES : []),
    ...(place.isAnchor ? [] : [SIGNATURE_RULE]),
  ];
  const broken = rules.flatMap((rule) => faultOf(rule, certificate));
  // An unreadable part can fail several rules with the same text.
  const faults = [...new Map(broken.map((fault) => [fault.what, fault])).values()];
  row.set(key, faults);
  return faults;
}

function faultOf([error, clients, check]: Rule, certificate: Certificate): FormFault[] {
  try {
    const what = check(certificate);
    return what === null ? [] : [{ error, clients, what }];
  } catch (fault) {
    if (fault instanceof MalformedDer) {
      return [{ error: "malformed", clients: "Clients", what: `a part of it cannot be read (${fault.message})` }];
    }
    throw fault;
  }
}

function failing(isValid: (certificate: Certificate) => boolean, what: string): Check {
  return (certificate) => (isValid(certificate) ? null : what);
}

function prefixed(prefix: string, what: string | null): string | null {
  return what === null ? null : `${prefix}${what}`;
}

const EC_KEY = "1.2.840.10045.2.1";
const RSA_KEY = "1.2.840.113549.1.1.1";
const RSASSA_PSS = "1.2.840.113549.1.1.10";
const MGF1 = "1.2.840.113549.1.1.8";
/** P-256, P-384 and P-521: the curves that Chrome, Firefox and the Baseline Requirements (section 6.1.5) allow. */
const CURVES: ReadonlySet<string> = new Set(["1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35"]);
/** First octet of an uncompressed point (SEC 1 section 2.3.3). */
const UNCOMPRESSED = 0x04;

/** OIDs of the signature algorithms that browsers verify: RSA and ECDSA with SHA-256, SHA-384 or SHA-512. */
const BROWSER_SIGNATURES: ReadonlySet<string> = new Set([
  "1.2.840.113549.1.1.11",
  "1.2.840.113549.1.1.12",
  "1.2.840.113549.1.1.13",
  "1.2.840.10045.4.3.2",
  "1.2.840.10045.4.3.3",
  "1.2.840.10045.4.3.4",
]);
/** OIDs of Ed25519 and Ed448 (RFC 8410): strong signatures that browsers do not support. The ssl tool warns of them. */
const EDWARDS: ReadonlySet<string> = new Set(["1.3.101.112", "1.3.101.113"]);
/** Length in octets of the digests that RSASSA-PSS is used with. */
const PSS_SALTS: Readonly<Record<string, number>> = { sha256: 32, sha384: 48, sha512: 64 };

/** Returns the fault in a public key's encoding, as the end of "its key ...", or null. Throws MalformedDer. */
function keyFormFault({ spki }: Certificate): string | null {
  const [algorithm, key] = sequenceOf(spki);
  const [oid, parameters] = childrenOf(expectTag(algorithm, TAG.sequence).contents);
  const kind = oidText(expectTag(oid, TAG.oid).contents);
  if (kind === RSASSA_PSS) return "is restricted to RSASSA-PSS";
  // The parameters must be NULL (RFC 3279 section 2.3.1).
  if (kind === RSA_KEY) return parameters?.tag === TAG.null ? null : "is an RSA key whose parameters are not NULL";
  if (kind !== EC_KEY) return null;
  // The curve must be named; explicit parameters are forbidden (RFC 5480 section 2.1.1).
  if (parameters?.tag !== TAG.oid) return "has explicit curve parameters instead of a named curve";
  if (!CURVES.has(oidText(parameters.contents))) return "is on a curve other than P-256, P-384 and P-521";
  return expectTag(key, TAG.bitString).contents[1] === UNCOMPRESSED ? null : "is a compressed point";
}

/** Reports whether browsers verify signatures of the algorithm; true for Ed25519 and Ed448 too. Throws MalformedDer. */
function isKnownSignature({ signatureOid, signatureAlgorithm }: Certificate): boolean {
  if (signatureOid === RSASSA_PSS) return isKnownPss(signatureAlgorithm);
  return BROWSER_SIGNATURES.has(signatureOid) || EDWARDS.has(signatureOid);
}

/**
 * Reports whether Chrome and Go accept an RSASSA-PSS algorithm: the same hash for message and mask, and a salt as long
 * as the hash (RFC 4055 section 3.1).
 */
function isKnownPss(algorithm: Uint8Array): boolean {
  const [, parameters] = sequenceOf(algorithm);
  const fields = childrenOf(expectTag(parameters, TAG.sequence).contents);
  const field = (tag: number): Uint8Array | undefined => fields.find((one) => one.tag === tag)?.contents;
  const [hash, mask, salt] = [field(0xa0), field(0xa1), field(0xa2)];
  if (hash === undefined || mask === undefined || salt === undefined) return false;
  const [function_, maskHash] = sequenceOf(mask);
  const digest = algorithmOid(hash);
  return (
    oidText(expectTag(function_, TAG.oid).contents) === MGF1 &&
    algorithmOid(expectTag(maskHash).whole) === digest &&
    smallInteger(readDer(salt)) === PSS_SALTS[DIGESTS[digest] ?? ""]
  );
}
