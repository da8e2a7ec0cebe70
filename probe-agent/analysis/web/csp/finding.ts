import type { CSP_ADVICE } from "#probe-agent/analysis/web/csp/advice.ts";

/** Severity in the words of CSP Evaluator. */
type CspSeverity = "high" | "syntax" | "medium" | "high_maybe" | "strict_csp" | "medium_maybe" | "info" | "none";

/** Severities, worst first, in the order of CSP Evaluator. */
const CSP_SEVERITIES: readonly CspSeverity[] = [
  "high",
  "syntax",
  "medium",
  "high_maybe",
  "strict_csp",
  "medium_maybe",
  "info",
  "none",
];

/** Type of a finding: CSP Evaluator's check types and a few of ours. */
export type CspFindingType = keyof typeof CSP_ADVICE;

/** One observation about a directive or one of its values. */
export interface CspFinding {
  readonly type: CspFindingType;
  readonly severity: CspSeverity;
  /** Empty if the finding is about the page. */
  readonly directive: string;
  /** Value of the directive; null if the finding is about the whole directive. */
  readonly value: string | null;
}

/** Makes an observation. */
export function cspFinding(
  type: CspFindingType,
  severity: CspSeverity,
  directive: string,
  value: string | null = null,
): CspFinding {
  return { type, severity, directive, value };
}

/** Maximum number of findings of one type: thousands of bad values would repeat one message thousands of times. */
const MAX_FINDINGS_PER_TYPE = 50;

/** Maximum length of a text in a finding, in characters. The site decides names and values. */
const MAX_SHOWN = 300;

/**
 * Sorts findings by severity, worst first, then in the order found. Keeps at most MAX_FINDINGS_PER_TYPE of each type
 * and makes their texts safe to show.
 */
export function orderFindings(findings: readonly CspFinding[]): CspFinding[] {
  const counts = new Map<string, number>();
  const kept = findings.filter((finding) => {
    const count = (counts.get(finding.type) ?? 0) + 1;
    counts.set(finding.type, count);
    return count <= MAX_FINDINGS_PER_TYPE;
  });
  const ordered = kept.toSorted(
    (one, other) => CSP_SEVERITIES.indexOf(one.severity) - CSP_SEVERITIES.indexOf(other.severity),
  );
  return ordered.map((finding) => ({
    ...finding,
    directive: cleanText(finding.directive),
    value: finding.value === null ? null : cleanText(finding.value),
  }));
}

/** Replaces control characters and truncates a text. */
function cleanText(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, "\uFFFD")
    .slice(0, MAX_SHOWN)
    .toWellFormed();
}
