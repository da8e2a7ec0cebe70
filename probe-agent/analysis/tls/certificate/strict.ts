import { isSameOctets } from "#shared/same-octets.ts";
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

/** A rule that only strict verifiers enforce. */
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
  /** Place on the path, 0 for the server's own. */
  readonly position: number;
}

/** The path, and whether it ends in a trusted root. */
export interface StrictRequest {
  /** Leaf first. */
  readonly path: readonly Certificate[];
  readonly anchored: boolean;
}

interface Place {
  readonly isLeaf: boolean;
  /** The last of the path, with no issuer above it that counts. */
  readonly isTop: boolean;
}

/**
 * What OpenSSL refuses with X509_V_FLAG_X509_STRICT and accepts without (x509_vfy.c check_extensions, release 3.0; the
 * flag is in Python's ssl.create_default_context since 3.13). What other clients refuse too is not listed. A server's
 * certificate that is its own root is exempt there.
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

/** The rules in the order of the list above, each with every certificate that breaks it. */
export function strictFaults({ path, anchored }: StrictRequest): StrictFault[] {
  const top = path.at(-1);
  const ends = anchored || (top !== undefined && isSelfIssued(top));
  if (path.length === 1 && ends) return [];
  return (Object.keys(RULES) as StrictRule[]).flatMap((rule) =>
    path.flatMap((certificate, position) => {
      const place = { isLeaf: position === 0, isTop: ends && position === path.length - 1 };
      return breaks(rule, certificate, place) ? [{ rule, position }] : [];
    }),
  );
}

function breaks(rule: StrictRule, certificate: Certificate, place: Place): boolean {
  try {
    return RULES[rule](certificate, place);
  } catch (error) {
    // Unreadable for every client: malformed.
    if (error instanceof MalformedDer) return false;
    throw error;
  }
}

/** Authorities, those that sign lists, and who has no other name. */
function needsSubject(certificate: Certificate): boolean {
  const signsLists = keyUsages(certificate)?.includes("cRLSign") ?? false;
  return isAuthority(certificate) || signsLists || !certificate.extensions.has(EXTENSION.subjectAltName);
}

function isAuthority(certificate: Certificate): boolean {
  return basicConstraints(certificate)?.ca === true;
}

function isSelfIssued({ subject, issuer }: Certificate): boolean {
  return isSameOctets(subject, issuer);
}
