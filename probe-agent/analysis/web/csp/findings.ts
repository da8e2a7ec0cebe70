import { SECURITY_CHECKS, valueFindings } from "#probe-agent/analysis/web/csp/checks-security.ts";
import {
  ignoredFindings,
  reportingFindings,
  strictFindings,
  trustedTypesFindings,
} from "#probe-agent/analysis/web/csp/checks-strict.ts";
import { syntaxFindings } from "#probe-agent/analysis/web/csp/checks-syntax.ts";
import { orderFindings, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import type { Policy } from "#probe-agent/analysis/web/csp/parse.ts";

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
