import { SECURITY_CHECKS, valueFindings } from "#probe-agent/analysis/web/csp/checks-security.ts";
import { orderFindings, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { decidingDirective } from "#probe-agent/analysis/web/csp/effective.ts";
import { isNonceOrHash, isHash, isNonce } from "#probe-agent/analysis/web/csp/sources.ts";
import {
  DEPRECATED_DIRECTIVES,
  KEYWORDS,
  KNOWN_DIRECTIVES,
  SOURCE_LIST_DIRECTIVES,
} from "#probe-agent/analysis/web/csp/vocabulary.ts";

const BARE_KEYWORDS = new Set([...KEYWORDS].map((keyword) => keyword.slice(1, -1)));

/**
 * Returns all findings about the policies of one page. An attack must pass every policy, so a security finding is
 * reported only if no policy prevents the attack. Syntax errors are reported for each policy.
 */
export function cspFindings(policies: readonly Policy[], truncated: boolean): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const policy of policies) findings.push(...syntaxFindings(policy), ...valueFindings(policy));
  for (const check of SECURITY_CHECKS) {
    const perPolicy = policies.map(check);
    if (perPolicy.every((found) => found.length > 0)) findings.push(...(perPolicy[0] ?? []));
  }
  const strict = policies.map(strictFindings);
  if (strict.every((found) => found.length > 0)) findings.push(...(strict[0] ?? []));
  for (const policy of policies) findings.push(...ignoredFindings(policy));
  if (policies.length > 0) findings.push(...trustedTypesFindings(policies), ...reportingFindings(policies));
  if (truncated) {
    const message = "The policy text is longer than our limit; the rest is not analysed";
    findings.push({ directive: "", value: null, severity: "info", type: "truncated", message });
  }
  return orderFindings(findings);
}

/** Returns what a policy lacks to be strict (nonces or hashes, 'strict-dynamic') and to work in older browsers too. */
function strictFindings(policy: Policy): CspFinding[] {
  const directive = decidingDirective(policy, "script-src");
  if (directive === null) return [];
  const values = policy.directives.get(directive) ?? [];
  const trusted = values.some(isNonceOrHash);
  const dynamic = values.includes("'strict-dynamic'");
  const findings: CspFinding[] = [];
  const add = (type: CspFinding["type"], severity: CspFinding["severity"], message: string): void =>
    void findings.push({ directive, value: null, severity, type, message });
  if (values.some((value) => !value.startsWith("'")) && !dynamic) {
    add("strict_dynamic", "strict_csp", "Host lists can often be bypassed: use 'strict-dynamic' with nonces or hashes");
  }
  if (dynamic && !trusted) {
    add("strict_dynamic_not_standalone", "info", "'strict-dynamic' without a nonce or hash blocks every script");
  }
  if (trusted && !values.includes("'unsafe-inline'")) {
    add("unsafe_inline_fallback", "strict_csp", "Add 'unsafe-inline' for browsers without nonces; others ignore it");
  }
  if (dynamic && !values.some((value) => /^(?:https?:|\*)$/.test(value) || value.includes("."))) {
    add("allowlist_fallback", "strict_csp", "Add https: for browsers without 'strict-dynamic'; others ignore it");
  }
  return findings;
}

/** Returns the sources that newer browsers ignore in a policy. They need no correction. */
function ignoredFindings(policy: Policy): CspFinding[] {
  const directive = decidingDirective(policy, "script-src");
  const values = policy.directives.get(directive ?? "") ?? [];
  const dynamic = values.includes("'strict-dynamic'");
  return values
    .filter((value) => {
      if (value === "'unsafe-inline'") return dynamic || values.some(isNonceOrHash);
      return dynamic && (value === "'self'" || !value.startsWith("'"));
    })
    .map((value) => ({
      directive: directive ?? "",
      value,
      severity: "none",
      type: "ignored",
      message: "Ignored because of a nonce, a hash or 'strict-dynamic'",
    }));
}

/** Returns a finding if no policy requires Trusted Types for scripts. */
function trustedTypesFindings(policies: readonly Policy[]): CspFinding[] {
  const required = policies.some((policy) => policy.directives.get("require-trusted-types-for")?.includes("'script'"));
  if (required) return [];
  const message = "require-trusted-types-for 'script' prevents DOM-based injection";
  const type = "require_trusted_types_for_scripts";
  return [{ directive: "require-trusted-types-for", value: null, severity: "info", type, message }];
}

/** Returns a finding if no policy reports violations, or if only browsers with the Reporting API do. */
function reportingFindings(policies: readonly Policy[]): CspFinding[] {
  const has = (name: string): boolean => policies.some((policy) => (policy.directives.get(name) ?? []).length > 0);
  if (has("report-uri")) return [];
  if (has("report-to")) {
    const message = "Some browsers support only report-uri";
    return [{ directive: "report-to", value: null, severity: "info", type: "report_to_only", message }];
  }
  const message = "Violations are not reported";
  return [{ directive: "report-uri", value: null, severity: "info", type: "reporting_destination_missing", message }];
}

/** Returns findings about invalid, ignored and obsolete parts of one policy. */
function syntaxFindings(policy: Policy): CspFinding[] {
  const findings: CspFinding[] = [];
  for (const directive of policy.duplicates) {
    findings.push(finding("duplicate_directive", "syntax", directive, null, "Repeated: browsers use only the first"));
  }
  for (const directive of policy.ignored) {
    findings.push(
      finding("ignored_in_meta", "syntax", directive, null, "Ignored in a meta element: send it as a header"),
    );
  }
  for (const [directive, values] of policy.directives) {
    const replacement = DEPRECATED_DIRECTIVES[directive];
    if (!KNOWN_DIRECTIVES.has(directive)) findings.push(unknownDirective(directive));
    else if (replacement !== undefined) {
      findings.push(finding("deprecated_directive", "info", directive, null, `Obsolete: ${replacement}`));
    }
    if (SOURCE_LIST_DIRECTIVES.has(directive))
      findings.push(...values.flatMap((value) => sourceProblems(directive, value)));
    else
      findings.push(
        ...values.filter((value) => KNOWN_DIRECTIVES.has(value)).map((value) => semicolon(directive, value)),
      );
  }
  return findings;
}

function sourceProblems(directive: string, value: string): CspFinding[] {
  if (KNOWN_DIRECTIVES.has(value)) return [semicolon(directive, value)];
  if (BARE_KEYWORDS.has(value) || /^(?:nonce|sha256|sha384|sha512)-/.test(value)) {
    return [finding("invalid_keyword", "syntax", directive, value, `Single quotes are missing around ${value}`)];
  }
  if (isNonce(value)) return nonceProblems(directive, value);
  if (value.startsWith("'") && !KEYWORDS.has(value) && !isHash(value)) {
    return [finding("invalid_keyword", "syntax", directive, value, `${value} is not a keyword that browsers know`)];
  }
  return [];
}

function nonceProblems(directive: string, value: string): CspFinding[] {
  const nonce = value.slice("'nonce-".length, -1);
  const findings: CspFinding[] = [];
  if (nonce.length < 8) {
    findings.push(finding("nonce_length", "medium", directive, value, "A nonce needs at least 8 characters"));
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(nonce)) {
    findings.push(finding("nonce_charset", "info", directive, value, "A nonce must be base64"));
  }
  return findings;
}

function unknownDirective(directive: string): CspFinding {
  const message = directive.endsWith(":") ? "Directives do not end in a colon" : "Not a directive that browsers know";
  return finding("unknown_directive", "syntax", directive, null, message);
}

function semicolon(directive: string, value: string): CspFinding {
  return finding("missing_semicolon", "syntax", directive, value, `${value} is a directive: a semicolon is missing`);
}

function finding(
  type: CspFinding["type"],
  severity: CspFinding["severity"],
  directive: string,
  value: string | null,
  message: string,
): CspFinding {
  return { directive, value, severity, type, message };
}
