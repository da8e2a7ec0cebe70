import { decidingDirective } from "#probe-agent/analysis/web/csp/effective.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";
import { isNonceOrHash } from "#probe-agent/analysis/web/csp/sources.ts";

/** Returns what a policy lacks to be strict (nonces or hashes, 'strict-dynamic') and to work in older browsers too. */
export function strictFindings(policy: Policy): CspFinding[] {
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
export function ignoredFindings(policy: Policy): CspFinding[] {
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
export function trustedTypesFindings(policies: readonly Policy[]): CspFinding[] {
  const required = policies.some((policy) => policy.directives.get("require-trusted-types-for")?.includes("'script'"));
  if (required) return [];
  const message = "require-trusted-types-for 'script' prevents DOM-based injection";
  const type = "require_trusted_types_for_scripts";
  return [{ directive: "require-trusted-types-for", value: null, severity: "info", type, message }];
}

/** Returns a finding if no policy reports violations, or if only browsers with the Reporting API do. */
export function reportingFindings(policies: readonly Policy[]): CspFinding[] {
  const has = (name: string): boolean => policies.some((policy) => (policy.directives.get(name) ?? []).length > 0);
  if (has("report-uri")) return [];
  if (has("report-to")) {
    const message = "Some browsers support only report-uri";
    return [{ directive: "report-to", value: null, severity: "info", type: "report_to_only", message }];
  }
  const message = "Violations are not reported";
  return [{ directive: "report-uri", value: null, severity: "info", type: "reporting_destination_missing", message }];
}
