/**
 * How much a finding matters.
 * - critical: visitors or mail do not arrive, or an attacker gets in.
 * - warning: that will happen if nothing changes, or it costs much (speed, search ranking, money, trust).
 * - info: good to know; nothing breaks.
 */
export const SEVERITIES = ["critical", "warning", "info"] as const;
/** One of the three severities, worst first in SEVERITIES. */
export type Severity = (typeof SEVERITIES)[number];

/** One judgement of a tool: what is wrong or worth knowing, and what to do about it. */
export interface Finding {
  /** Stable name of the kind of finding, kebab-case, e.g. missing-intermediate. */
  readonly id: string;
  readonly severity: Severity;
  /** What was found, one or two sentences with the observed values. */
  readonly message: string;
  /** What to change, concretely (the header, record or line to publish); null where nothing is to do. */
  readonly how: string | null;
  /** URL of the specification or guide; null where there is none. */
  readonly reference: string | null;
  /** The part of the result it is about, e.g. a cookie's name or a hop's URL; null: the whole. */
  readonly where: string | null;
}

/** Orders findings worst first; findings of the same severity keep their order. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}
