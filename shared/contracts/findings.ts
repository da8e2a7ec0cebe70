/**
 * How much a finding matters.
 * - critical: visitors or mail do not arrive, or an attacker gets in.
 * - warning: that will happen if nothing changes, or it costs much (speed, search ranking, money, trust).
 * - info: good to know; nothing breaks.
 */
export const SEVERITIES = ["critical", "warning", "info"] as const;
/** One of the three severities. SEVERITIES lists the most severe first. */
export type Severity = (typeof SEVERITIES)[number];

/** One finding of a tool: what is wrong or worth knowing, and what to do about it. */
export interface Finding {
  /** Stable identifier of the kind of finding in kebab-case, e.g. missing-intermediate. */
  readonly id: string;
  readonly severity: Severity;
  /** What was found, in one or two sentences with the observed values. */
  readonly message: string;
  /** What to change, concretely (the header, record or line to publish); null if there is nothing to do. */
  readonly how: string | null;
  /** URL of the specification or guide; null if there is none. */
  readonly reference: string | null;
  /**
   * The part of the result that the finding is about, e.g. a cookie's name or a hop's URL; null for the whole result.
   */
  readonly where: string | null;
}

/** Sorts findings, most severe first. Findings of the same severity keep their order. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}
