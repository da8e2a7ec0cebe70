import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  authorityKeyId,
  basicConstraints,
  EXTENSION,
  keyUsages,
  subjectKeyId,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { isEmptyName } from "#probe-agent/analysis/tls/certificate/structure.ts";
import { isSelfIssued } from "#probe-agent/analysis/tls/certificate/self-issued.ts";

/** Rules that only strict verifiers enforce. */
export type StrictRule =
  | "path_length"
  | "basic_constraints"
  | "key_usage"
  | "empty_issuer"
  | "empty_subject"
  | "authority_key_identifier"
  | "subject_key_identifier"
  | "version";

/** A certificate of the path that breaks the rule. */
interface StrictFault {
  readonly rule: StrictRule;
  /** Position on the path; 0 is the server's own certificate. */
  readonly position: number;
}

/** Input of strictFaults. */
export interface StrictRequest {
  /** Leaf first. */
  readonly path: readonly Certificate[];
  /** Whether the path ends in a trusted root. */
  readonly anchored: boolean;
}

interface Place {
  readonly isLeaf: boolean;
  /** Whether this is the last certificate of a path that ends in a trusted root or a self-issued certificate. */
  readonly isTop: boolean;
}

/**
 * Checks that report whether a certificate breaks a rule. These are the rules of OpenSSL's X509_V_FLAG_X509_STRICT:
 * without the flag, OpenSSL accepts the certificate (x509_vfy.c check_extensions, release 3.0; Python's
 * ssl.create_default_context sets the flag since 3.13). Rules that other clients enforce too are not listed. OpenSSL
 * exempts a server's certificate that is its own root.
 */
const RULES: Readonly<Record<StrictRule, (certificate: Certificate, place: Place) => boolean>> = {
  path_length: (certificate) => {
    const constraints = basicConstraints(certificate);
    return constraints !== null && constraints.pathLength !== null && !constraints.ca;
  },
  basic_constraints: (certificate) =>
    isAuthority(certificate) && certificate.extensions.get(EXTENSION.basicConstraints)?.critical === false,
  key_usage: (certificate) => isAuthority(certificate) && keyUsages(certificate) === null,
  empty_issuer: ({ issuer }) => isEmptyName(issuer),
  empty_subject: (certificate) => isEmptyName(certificate.subject) && needsSubject(certificate),
  authority_key_identifier: (certificate, { isTop }) =>
    !isTop && certificate.version === 3 && authorityKeyId(certificate) === null,
  subject_key_identifier: (certificate) =>
    certificate.version === 3 && isAuthority(certificate) && subjectKeyId(certificate) === null,
  version: (certificate, { isLeaf }) => !isLeaf && certificate.version < 3,
};

/** Finds every certificate that breaks a strict rule, in the order of the rules. */
export function strictFaults({ path, anchored }: StrictRequest): StrictFault[] {
  const top = path.at(-1);
  const isComplete = anchored || (top !== undefined && isSelfIssued(top));
  if (path.length === 1 && isComplete) return [];
  return (Object.keys(RULES) as StrictRule[]).flatMap((rule) =>
    path.flatMap((certificate, position) => {
      const place = { isLeaf: position === 0, isTop: isComplete && position === path.length - 1 };
      return breaks(rule, certificate, place) ? [{ rule, position }] : [];
    }),
  );
}

function breaks(rule: StrictRule, certificate: Certificate, place: Place): boolean {
  try {
    return RULES[rule](certificate, place);
  } catch (error) {
    // No client can read the extension: the certificate is reported as malformed elsewhere.
    if (error instanceof MalformedDer) return false;
    throw error;
  }
}

/** Reports whether a certificate needs a subject: authorities, CRL signers, and certificates without other names do. */
function needsSubject(certificate: Certificate): boolean {
  const signsLists = keyUsages(certificate)?.includes("cRLSign") ?? false;
  return isAuthority(certificate) || signsLists || !certificate.extensions.has(EXTENSION.subjectAltName);
}

function isAuthority(certificate: Certificate): boolean {
  return basicConstraints(certificate)?.ca === true;
}
