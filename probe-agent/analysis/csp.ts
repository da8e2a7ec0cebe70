import { effectivePolicy, type EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { cspFindings } from "#probe-agent/analysis/web/csp/findings.ts";
import { parsePolicies, type Policy, type PolicyText } from "#probe-agent/analysis/web/csp/parse.ts";
import { cspAdjustments, isStrict, type CspAdjustment } from "#probe-agent/analysis/web/csp/score.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";

/** A policy as plain data. */
export interface CspPolicyReport {
  readonly source: "header" | "meta" | "report-only";
  readonly raw: string;
  readonly directives: Readonly<Record<string, readonly string[]>>;
}

/** What a page's policies are worth. All of it survives JSON. */
export interface CspAnalysis {
  readonly grade: LetterGrade;
  /** 0 to 100; at most 30 where policies only report. */
  readonly score: number;
  readonly findings: readonly CspFinding[];
  /** What all enforced policies together allow (of report-only ones where nothing is enforced). */
  readonly effective: EffectivePolicy;
  readonly adjustments: readonly CspAdjustment[];
  readonly policies: readonly CspPolicyReport[];
  /** At least one policy is enforced. */
  readonly enforced: boolean;
  readonly strict_csp: boolean;
  readonly trusted_types: boolean;
  readonly reporting: { readonly report_uri: readonly string[]; readonly report_to: readonly string[] };
  /** Allowed script sources known to serve what bypasses the policy. */
  readonly bypass_hosts: readonly string[];
}

const REPORT_ONLY_MAXIMUM = 30;

/**
 * Grades the Content-Security-Policy of a page: header values and meta contents as they came, [] where
 * there are none. Several policies are taken together, as browsers do.
 */
export function analyseCsp(texts: readonly PolicyText[]): CspAnalysis {
  const { policies, truncated } = parsePolicies(texts);
  const enforcedOnes = policies.filter((policy) => policy.source !== "report-only");
  const enforced = enforcedOnes.length > 0;
  const judged = enforced ? enforcedOnes : policies;
  const findings = cspFindings(judged, truncated);
  const effective = effectivePolicy(judged);
  const adjustments = judged.length === 0 ? [] : cspAdjustments(effective, findings);
  const score = judged.length === 0 ? 0 : clamp(adjustments, enforced ? 100 : REPORT_ONLY_MAXIMUM);
  const values = (name: string): string[] => [
    ...new Set(policies.flatMap((one) => [...(one.directives.get(name) ?? [])])),
  ];
  return {
    grade: letterGrade(score),
    score,
    findings,
    effective,
    adjustments,
    policies: policies.map(report),
    enforced,
    strict_csp: judged.length > 0 && isStrict(effective),
    trusted_types: effective.require_trusted_types_for.includes("'script'"),
    reporting: { report_uri: values("report-uri"), report_to: values("report-to") },
    bypass_hosts: bypassHosts(findings),
  };
}

function clamp(adjustments: readonly CspAdjustment[], maximum: number): number {
  return Math.max(
    0,
    Math.min(
      maximum,
      adjustments.reduce((sum, one) => sum + one.points, 100),
    ),
  );
}

function bypassHosts(findings: readonly CspFinding[]): string[] {
  const bypasses = findings.filter((one) => one.type === "script_allowlist_bypass" && one.severity === "high");
  return [...new Set(bypasses.map((one) => one.value ?? ""))];
}

function report(policy: Policy): CspPolicyReport {
  return { source: policy.source, raw: policy.raw, directives: Object.fromEntries(policy.directives) };
}
