import { amountOf, lineOf, membersOf, wholeOf } from "#probe-agent/analysis/page/pagespeed-read.ts";

/** A change that would make a page faster. */
export interface Opportunity {
  readonly id: string;
  readonly title: string;
  readonly savings_ms: number | null;
  readonly savings_bytes: number | null;
  readonly display_value: string | null;
}

const MAX_LISTED = 30;
/** Maximum number of audits read. Lighthouse has about 150. */
const MAX_AUDITS = 1000;
/** Metrics in milliseconds for which audits give savings (Lighthouse 11 and later). */
const TIMES = ["LCP", "FCP", "TBT", "INP"] as const;
const PASSED = 0.9;

/**
 * Finds the audits that estimate savings: up to Lighthouse 12 those of type "opportunity", later ones ("insights") by
 * their metricSavings. Sorted by saved time, most first.
 */
export function readOpportunities(audits: unknown): Opportunity[] {
  const entries = Object.entries(membersOf(audits)).slice(0, MAX_AUDITS);
  const found = entries.flatMap(([id, audit]) => {
    const { title, score, details, metricSavings, displayValue } = membersOf(audit);
    const { overallSavingsMs, overallSavingsBytes } = membersOf(details);
    const passed = (amountOf(score) ?? 0) >= PASSED;
    const savings = membersOf(metricSavings);
    const times = [overallSavingsMs, ...TIMES.map((metric) => savings[metric])].map((time) => wholeOf(time) ?? 0);
    const [ms, bytes] = [Math.max(...times), wholeOf(overallSavingsBytes) ?? 0];
    const name = lineOf(title, 200);
    if (passed || name === null || (ms === 0 && bytes === 0)) return [];
    return [
      {
        id: id.slice(0, 100).toWellFormed(),
        title: name,
        savings_ms: ms === 0 ? null : ms,
        savings_bytes: bytes === 0 ? null : bytes,
        display_value: lineOf(displayValue, 200),
      },
    ];
  });
  const weight = ({ savings_ms: ms, savings_bytes: bytes }: Opportunity): readonly [number, number] => [
    ms ?? 0,
    bytes ?? 0,
  ];
  return found
    .toSorted((one, other) => {
      const [[ms, bytes], [otherMs, otherBytes]] = [weight(one), weight(other)];
      return otherMs - ms || otherBytes - bytes || (one.id < other.id ? -1 : 1);
    })
    .slice(0, MAX_LISTED);
}
