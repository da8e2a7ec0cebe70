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
export type CspFindingType =
  | "missing_semicolon"
  | "unknown_directive"
  | "invalid_keyword"
  | "duplicate_directive"
  | "ignored_in_meta"
  | "meta_after_script"
  | "meta_outside_head"
  | "report_only_in_meta"
  | "undefined_reporting_group"
  | "nonce_charset"
  | "nonce_length"
  | "missing_directives"
  | "script_unsafe_inline"
  | "script_unsafe_hashes"
  | "script_unsafe_eval"
  | "plain_url_schemes"
  | "plain_wildcard"
  | "script_allowlist_bypass"
  | "object_allowlist_bypass"
  | "ip_source"
  | "deprecated_directive"
  | "src_http"
  | "style_unsafe_inline"
  | "strict_dynamic"
  | "strict_dynamic_not_standalone"
  | "unsafe_inline_fallback"
  | "allowlist_fallback"
  | "ignored"
  | "require_trusted_types_for_scripts"
  | "reporting_destination_missing"
  | "report_to_only"
  | "truncated";

/** One observation about a directive or one of its values. */
export interface CspFinding {
  readonly directive: string;
  /** Value of the directive; null if the finding is about the whole directive. */
  readonly value: string | null;
  readonly severity: CspSeverity;
  readonly type: CspFindingType;
  readonly message: string;
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
    message: cleanText(finding.message),
  }));
}

/** Replaces control characters and truncates a text. */
function cleanText(text: string): string {
  return text
    .replaceAll(/\p{Cc}/gu, "\uFFFD")
    .slice(0, MAX_SHOWN)
    .toWellFormed();
}
