import { logNormalScore, type ScoreCurve } from "#probe-agent/analysis/page/log-normal.ts";
import type { Strategy } from "#probe-agent/analysis/page/pagespeed/conditions.ts";

/** Metrics of the performance score. null if not measured. */
interface LabMetrics {
  readonly fcp_ms: number | null;
  readonly lcp_ms: number | null;
  readonly tbt_ms: number | null;
  readonly cls: number | null;
}

type Metric = keyof LabMetrics;

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
export function scorePerformance(metrics: LabMetrics, strategy: Strategy): number | null {
  let [sum, weights] = [0, 0];
  for (const metric of Object.keys(WEIGHTS) as Metric[]) {
    const value = metrics[metric];
    if (value === null) return null;
    sum += WEIGHTS[metric] * logNormalScore(CURVES[strategy][metric], value);
    weights += WEIGHTS[metric];
  }
  return Math.round((100 * sum) / weights);
}
