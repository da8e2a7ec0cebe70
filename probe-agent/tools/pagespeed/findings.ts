import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { listAll } from "#shared/text/list.ts";
import type { Opportunity } from "#probe-agent/analysis/page/pagespeed-opportunities.ts";
import { logNormalScore, type ScoreCurve } from "#probe-agent/analysis/page/log-normal.ts";
import type { Strategy } from "#probe-agent/analysis/page/pagespeed-conditions.ts";

/** Metrics of one load for which web.dev has limits, with the names of `metrics`. null if not measured. */
export interface LabMetrics {
  readonly fcp_ms: number | null;
  readonly lcp_ms: number | null;
  readonly tbt_ms: number | null;
  readonly cls: number | null;
  readonly ttfb_ms: number | null;
}

/** Severity and advice for each kind of finding. A metric that is not poor is info. */
const PAGESPEED_ADVICE = {
  "slow-first-paint": {
    severity: "warning",
    how: "Remove scripts and style sheets that block the first paint, and reduce the server's response time.",
    reference: "https://web.dev/articles/fcp",
  },
  "slow-largest-paint": {
    severity: "warning",
    how: 'Make the largest image or text of the first screen load first, e.g. with fetchpriority="high" and without loading="lazy".',
    reference: "https://web.dev/articles/lcp",
  },
  "long-blocking-time": {
    severity: "warning",
    how: "Split long tasks of scripts into short ones, and defer scripts that the first screen does not need.",
    reference: "https://web.dev/articles/tbt",
  },
  "layout-shifts": {
    severity: "warning",
    how: "Give images, frames and advertisements a width and height, so that nothing moves when they load.",
    reference: "https://web.dev/articles/cls",
  },
  "slow-first-byte": {
    severity: "warning",
    how: "Cache the page on the server or in a CDN near visitors, and remove redirects before it.",
    reference: "https://web.dev/articles/ttfb",
  },
  "speed-opportunity": {
    severity: "info",
    how: null,
    reference: "https://developer.chrome.com/docs/lighthouse/performance/",
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof PAGESPEED_ADVICE>;

interface Limit {
  readonly id: Draft["id"];
  readonly name: string;
  readonly unit: string;
  /**
   * Maximum of a good value. `poor` is the limit above which a value is poor (web.dev, Web Vitals; TBT: Lighthouse on
   * mobile).
   */
  readonly good: number;
  readonly poor: number;
}

/** Limits by the field of `metrics`. */
export const METRIC_LIMITS: Readonly<Record<keyof LabMetrics, Limit>> = {
  fcp_ms: { id: "slow-first-paint", name: "First contentful paint", unit: " ms", good: 1800, poor: 3000 },
  lcp_ms: { id: "slow-largest-paint", name: "Largest contentful paint", unit: " ms", good: 2500, poor: 4000 },
  tbt_ms: { id: "long-blocking-time", name: "Total blocking time", unit: " ms", good: 200, poor: 600 },
  cls: { id: "layout-shifts", name: "Cumulative layout shift", unit: "", good: 0.1, poor: 0.25 },
  ttfb_ms: { id: "slow-first-byte", name: "Time to first byte", unit: " ms", good: 800, poor: 1800 },
};

/**
 * Returns a finding for each metric that is not good (warning if poor, else info), then one for each saving that
 * Lighthouse estimates.
 */
export function pagespeedFindings(metrics: LabMetrics, opportunities: readonly Opportunity[]): Finding[] {
  const slow = (Object.keys(METRIC_LIMITS) as (keyof LabMetrics)[]).flatMap((field): Draft[] => {
    const { id, name, unit, good, poor } = METRIC_LIMITS[field];
    const value = metrics[field];
    if (value === null || value <= good) return [];
    const compared =
      value > poor ? `This is poor: the limit is ${poor}${unit}` : `A good value is at most ${good}${unit}`;
    const message = `${name} is ${value}${unit}. ${compared}.`;
    return [finding(id, `metrics.${field}`, message, value > poor ? undefined : "info")];
  });
  const savings = opportunities.map(({ id, title, savings_ms: ms, savings_bytes: bytes }): Draft => {
    const parts = [
      ...(ms === null ? [] : [`${ms} ms`]),
      ...(bytes === null ? [] : [`${Math.max(1, Math.round(bytes / 1024))} KiB`]),
    ];
    const message = `Lighthouse estimates that the page would save ${listAll(parts)}: ${title}.`;
    return { ...finding("speed-opportunity", id, message), how: `${title}.` };
  });
  return adviseOn(PAGESPEED_ADVICE, [...slow, ...savings], null);
}

/** Metrics of the performance score. null if not measured. */
interface ScoredMetrics {
  readonly fcp_ms: number | null;
  readonly lcp_ms: number | null;
  readonly tbt_ms: number | null;
  readonly cls: number | null;
}

type Metric = keyof ScoredMetrics;

/** Weights of Lighthouse 10 and later. The missing 10 belong to the speed index, which requires a film of the load. */
const WEIGHTS: Readonly<Record<Metric, number>> = { fcp_ms: 10, lcp_ms: 25, tbt_ms: 30, cls: 25 };

/** Scoring curves of Lighthouse 10 and later, by device (core/audits/metrics). */
const CURVES: Readonly<Record<Strategy, Readonly<Record<Metric, ScoreCurve>>>> = {
  mobile: {
    fcp_ms: { p10: 1800, median: 3000 },
    lcp_ms: { p10: 2500, median: 4000 },
    tbt_ms: { p10: 200, median: 600 },
    cls: { p10: 0.1, median: 0.25 },
  },
  desktop: {
    fcp_ms: { p10: 934, median: 1600 },
    lcp_ms: { p10: 1200, median: 2400 },
    tbt_ms: { p10: 150, median: 350 },
    cls: { p10: 0.1, median: 0.25 },
  },
};

/**
 * Computes Lighthouse's performance score, 0 to 100, from four metrics by its curves and weights, without the speed
 * index. Returns null if one of them is missing, as Lighthouse does.
 */
export function scorePerformance(metrics: ScoredMetrics, strategy: Strategy): number | null {
  let [sum, weights] = [0, 0];
  for (const metric of Object.keys(WEIGHTS) as Metric[]) {
    const value = metrics[metric];
    if (value === null) return null;
    sum += WEIGHTS[metric] * logNormalScore(CURVES[strategy][metric], value);
    weights += WEIGHTS[metric];
  }
  return Math.round((100 * sum) / weights);
}
