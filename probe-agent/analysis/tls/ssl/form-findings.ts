import { finding } from "#probe-agent/analysis/text/findings.ts";
import { authorityLeafFault } from "#probe-agent/analysis/tls/certificate/extension-form.ts";
import { formFaults, type FormFault } from "#probe-agent/analysis/tls/certificate/form.ts";
import { keyFacts } from "#probe-agent/analysis/tls/certificate/keys.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import type { SslDraft } from "#probe-agent/analysis/tls/ssl/advice.ts";
import { strictFaults, type StrictRequest, type StrictRule } from "#probe-agent/analysis/tls/certificate/strict.ts";

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
