import { finding } from "#probe-agent/analysis/text/findings.ts";
import { authorityLeafFault } from "#probe-agent/analysis/tls/certificate/extension-form.ts";
import { formFaults, type FormFault } from "#probe-agent/analysis/tls/certificate/form.ts";
import { keyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { SslDraft } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  authorityKeyId,
  basicConstraints,
  EXTENSION,
  keyUsages,
  subjectKeyId,
} from "#probe-agent/analysis/tls/certificate/extensions.ts";
import { isEmptyName } from "#probe-agent/analysis/tls/certificate/structure.ts";
import { isSelfIssued } from "#probe-agent/analysis/tls/certificate/self-issued.ts";

/** Maximum number of findings on form for one chain. Real chains have at most one; the limit is for hostile chains. */
const MAX_FORM_FINDINGS = 5;
const STRICT_CLIENTS = "Python 3.13 and later (by default) and OpenSSL with -x509_strict refuse this chain";
const EDWARDS: ReadonlySet<string> = new Set(["Ed25519", "Ed448"]);

/** Fault that strict clients refuse, as the end of a sentence about a certificate. */
const STRICT_TEXTS: Readonly<Record<StrictRule, string>> = {
  path_length: "has a path length but is not a CA certificate",
  basic_constraints: "has basicConstraints that are not critical",
  key_usage: "has no keyUsage",
  empty_issuer: "has an empty issuer name, which Firefox refuses too",
  empty_subject: "has an empty subject",
  authority_key_identifier: "has no authority key identifier (AKI)",
  subject_key_identifier: "has no subject key identifier (SKI)",
  version: "has version 1 or 2",
};

/**
 * Returns findings on the form of a path's certificates: form rules that clients enforce, rules of strict clients, and
 * Ed25519 or Ed448 keys.
 */
export function formFindings(request: StrictRequest): SslDraft[] {
  return [...refusals(request), ...strictRefusals(request), ...edwardsKeys(request)];
}

function refusals({ path, anchored }: StrictRequest): SslDraft[] {
  return path
    .flatMap((certificate, position) => {
      const isAnchor = anchored && position === path.length - 1;
      const faults = formFaults(certificate, { isLeaf: position === 0, isAnchor });
      const own = isAnchor && position === 0 ? ownAuthority(certificate) : [];
      return [...faults, ...own].map((fault) => refusal(fault, subjectOf(position, path, anchored)));
    })
    .slice(0, MAX_FORM_FINDINGS);
}

/** Returns the fault of a server's certificate that is also the root: Firefox does not trust it. */
function ownAuthority(certificate: Certificate): FormFault[] {
  const what = authorityLeafFault(certificate);
  return what === null ? [] : [{ error: "wrong_usage", clients: "Firefox", what }];
}

function refusal({ clients, what }: FormFault, subject: string): SslDraft {
  const message =
    clients === null
      ? `${subject.charAt(0).toUpperCase()}${subject.slice(1)} violates RFC 5280: ${what}.`
      : `${clients} ${isPlural(clients) ? "refuse" : "refuses"} ${subject}: ${what}.`;
  return finding("certificate-form", null, message);
}

function strictRefusals(request: StrictRequest): SslDraft[] {
  const faults = strictFaults(request);
  if (faults.length === 0) return [];
  const rules = [...new Set(faults.map(({ rule }) => rule))];
  const reasons = rules.map((rule) => {
    const positions = faults.filter((fault) => fault.rule === rule).map(({ position }) => position);
    const subjects = positions.map((position) => subjectOf(position, request.path, request.anchored));
    return [...new Set(subjects)].map((subject) => `${subject} ${STRICT_TEXTS[rule]}`).join("; ");
  });
  return [finding("strict-clients", null, `${STRICT_CLIENTS}: ${reasons.join("; ")}.`)];
}

function edwardsKeys({ path }: StrictRequest): SslDraft[] {
  const kind = path.map((certificate) => keyFacts(certificate).type).find((type) => EDWARDS.has(type));
  if (kind === undefined) return [];
  const message = `Chrome, Firefox and Safari do not support ${kind} keys in certificates; Go and OpenSSL do.`;
  return [finding("edwards-key", null, message)];
}

function subjectOf(position: number, path: readonly Certificate[], anchored: boolean): string {
  if (position === 0) return "the server's certificate";
  return anchored && position === path.length - 1 ? "the root" : "an intermediate";
}

function isPlural(clients: string): boolean {
  return clients.includes(" and ") || clients.endsWith("s");
}

/** Rules that only strict verifiers enforce. */
type StrictRule =
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
interface StrictRequest {
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
