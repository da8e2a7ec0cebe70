import type { Finding } from "#shared/findings.ts";
import type { CspAnalysis } from "#probe-agent/analysis/csp.ts";
import { bypassHost } from "#probe-agent/analysis/web/csp/bypass-hosts.ts";
import {
  CSP_DESCRIPTIONS,
  MISSING_DIRECTIVES,
  NONCE_INSTEAD_OF_HOST,
} from "#probe-agent/analysis/web/csp/finding-texts.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";

const HEADER = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Content-Security-Policy";
/** Directives that have their own page in MDN's reference. */
const DOCUMENTED = new Set([
  "base-uri",
  "child-src",
  "connect-src",
  "default-src",
  "font-src",
  "form-action",
  "frame-ancestors",
  "frame-src",
  "img-src",
  "manifest-src",
  "media-src",
  "object-src",
  "report-to",
  "report-uri",
  "require-trusted-types-for",
  "sandbox",
  "script-src",
  "script-src-attr",
  "script-src-elem",
  "style-src",
  "style-src-attr",
  "style-src-elem",
  "worker-src",
]);

/** Converts observations to findings. `found` contains those of the analysis, of the delivery and of the reporting. */
export function describeCspFindings(found: readonly CspFinding[], analysis: CspAnalysis): Finding[] {
  return [...absentPolicy(analysis), ...found.map(describe), ...unrestricted(found, analysis)];
}

function describe({ type, directive, value, severity }: CspFinding): Finding {
  const said = CSP_DESCRIPTIONS[type];
  const known = severity === "high" && type === "script_allowlist_bypass" ? bypassHost(value ?? "", true) : null;
  const finding = {
    id: type.replaceAll("_", "-"),
    severity:
      type === "missing_directives" ? (MISSING_DIRECTIVES[directive]?.severity ?? said.severity) : said.severity,
    message: said.message(directive, value ?? ""),
    how: said.how?.(directive, value ?? "") ?? null,
    reference: DOCUMENTED.has(directive) ? `${HEADER}/${directive}` : HEADER,
    where: directive === "" ? null : value === null ? directive : `${directive} ${value}`,
  };
  if (known === null) return finding;
  const message = `${directive} allows ${value}: ${known.host} serves ${known.serves}, which lets an injection bypass the policy.`;
  return { ...finding, severity: "warning", message, how: NONCE_INSTEAD_OF_HOST };
}

function absentPolicy({ policies, enforced }: CspAnalysis): Finding[] {
  if (enforced) return [];
  const base = { severity: "warning", reference: HEADER, where: null } as const;
  if (policies.length > 0) {
    const message = "All policies of the page are report-only: browsers report violations and block nothing.";
    const how = "Send the same policy in the Content-Security-Policy header.";
    return [{ ...base, id: "policy-not-enforced", message, how }];
  }
  const message = "The page has no Content-Security-Policy: injected scripts run without restriction.";
  const how =
    "Send the header Content-Security-Policy: default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";
  return [{ ...base, id: "policy-missing", message, how }];
}

/** Returns findings about absent directives without a fallback that cost points. CSP Evaluator does not report them. */
function unrestricted(found: readonly CspFinding[], { policies, effective }: CspAnalysis): Finding[] {
  if (policies.length === 0) return [];
  const named = new Set(found.filter(({ type }) => type === "missing_directives").map(({ directive }) => directive));
  const absent = [
    ["base-uri", effective.base_uri],
    ["form-action", effective.form_action],
    ["frame-ancestors", effective.frame_ancestors],
  ] as const;
  return absent
    .filter(([directive, sources]) => sources === null && !named.has(directive))
    .map(([directive]) => ({
      ...describe({ directive, value: null, severity: "info", type: "missing_directives", message: "" }),
      // Without nonces, the host list must still allow the URLs that a base element redirects.
      severity: "info",
    }));
}
