import { logNormalScore, type ScoreCurve } from "#probe-agent/analysis/page/log-normal.ts";
import type { Strategy } from "#probe-agent/analysis/page/pagespeed/conditions.ts";

/** What the performance score is made of; null: not measured. */
interface LabMetrics {
  readonly fcp_ms: number | null;
  readonly lcp_ms: number | null;
  readonly tbt_ms: number | null;
  readonly cls: number | null;
}

type Metric = keyof LabMetrics;

/** Weights of Lighthouse 10 and later; the missing 10 are the speed index's, which takes a film of the load. */
const WEIGHTS: Readonly<Record<Metric, number>> = { fcp_ms: 10, lcp_ms: 25, tbt_ms: 30, cls: 25 };

/** Control points of Lighthouse 10 and later, by device (core/audits/metrics). */
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
 * Lighthouse's performance score of the four metrics without the speed index, by its curves and weights, 0 to 100; null
 * where one of them is missing, as in Lighthouse.
 */
export function performanceOf(metrics: LabMetrics, strategy: Strategy): number | null {
  let [sum, weights] = [0, 0];
  for (const metric of Object.keys(WEIGHTS) as Metric[]) {
    const value = metrics[metric];
    if (value === null) return null;
    sum += WEIGHTS[metric] * logNormalScore(CURVES[strategy][metric], value);
    weights += WEIGHTS[metric];
  }
  return Math.round((100 * sum) / weights);
}
