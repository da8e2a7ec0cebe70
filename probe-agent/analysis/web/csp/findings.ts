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
 * Everything to say about the policies of one page. An attack has to pass every policy, so a security check is
 * reported only where none of the policies stands against it; mistakes in writing are reported for each.
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
    const message = "More policy text was sent than is looked at; the rest is left out";
    findings.push({ directive: "", value: null, severity: "info", type: "truncated", message });
  }
  return orderFindings(findings);
}
