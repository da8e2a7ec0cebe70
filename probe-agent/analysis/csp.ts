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

/** Analysis of a page's policies. All values are plain data that JSON preserves. */
export interface CspAnalysis {
  readonly grade: LetterGrade;
  /** 0 to 100; at most 30 if all policies are report-only. */
  readonly score: number;
  readonly findings: readonly CspFinding[];
  /** What all enforced policies together allow; if none is enforced, what the report-only policies allow. */
  readonly effective: EffectivePolicy;
  /** Changes of the score from 100. */
  readonly adjustments: readonly CspAdjustment[];
  readonly policies: readonly CspPolicyReport[];
  /** Whether at least one policy is enforced. */
  readonly enforced: boolean;
  readonly strict_csp: boolean;
  readonly trusted_types: boolean;
  readonly reporting: { readonly report_uri: readonly string[]; readonly report_to: readonly string[] };
  /** Allowed script sources that are known to serve content which bypasses the policy. */
  readonly bypass_hosts: readonly string[];
}

/** Maximum score if no policy is enforced. */
const REPORT_ONLY_MAXIMUM = 30;

/**
 * Grades the Content-Security-Policy of a page from its header values and meta contents, unchanged; [] if there are
 * none. Several policies are combined, as in browsers.
 */
export function analyseCsp(texts: readonly PolicyText[]): CspAnalysis {
  const { policies, truncated } = parsePolicies(texts);
  const enforcedPolicies = policies.filter((policy) => policy.source !== "report-only");
  const enforced = enforcedPolicies.length > 0;
  const graded = enforced ? enforcedPolicies : policies;
  const findings = cspFindings(graded, truncated);
  const effective = effectivePolicy(graded);
  const adjustments = graded.length === 0 ? [] : cspAdjustments(effective, findings);
  const score = graded.length === 0 ? 0 : clamp(adjustments, enforced ? 100 : REPORT_ONLY_MAXIMUM);
  const values = (name: string): string[] => [
    ...new Set(policies.flatMap((one) => [...(one.directives.get(name) ?? [])])),
  ];
  return {
    grade: letterGrade(score),
    score,
    findings,
    effective,
    adjustments,
    policies: policies.map(toPlainPolicy),
    enforced,
    strict_csp: graded.length > 0 && isStrict(effective),
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

function toPlainPolicy(policy: Policy): CspPolicyReport {
  return { source: policy.source, raw: policy.raw, directives: Object.fromEntries(policy.directives) };
}
