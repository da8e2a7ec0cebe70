import type { Finding } from "#shared/findings.ts";
import { listAll } from "#shared/text/list.ts";
import type { Opportunity } from "#probe-agent/analysis/page/pagespeed/opportunities.ts";

/** Metrics of one load for which web.dev has limits, with the names of `metrics`. null if not measured. */
export interface LabMetrics {
  readonly fcp_ms: number | null;
  readonly lcp_ms: number | null;
  readonly tbt_ms: number | null;
  readonly cls: number | null;
  readonly ttfb_ms: number | null;
}

interface Limit {
  readonly id: string;
  readonly name: string;
  readonly unit: string;
  /**
   * Maximum of a good value. `poor` is the limit above which a value is poor (web.dev, Web Vitals; TBT: Lighthouse on
   * mobile).
   */
  readonly good: number;
  readonly poor: number;
  readonly how: string;
  readonly reference: string;
}

/** Limits and advice by the field of `metrics`. */
export const METRIC_LIMITS: Readonly<Record<keyof LabMetrics, Limit>> = {
  fcp_ms: {
    id: "slow-first-paint",
    name: "First contentful paint",
    unit: " ms",
    good: 1800,
    poor: 3000,
    how: "Remove scripts and style sheets that block the first paint, and reduce the server's response time.",
    reference: "https://web.dev/articles/fcp",
  },
  lcp_ms: {
    id: "slow-largest-paint",
    name: "Largest contentful paint",
    unit: " ms",
    good: 2500,
    poor: 4000,
    how: 'Make the largest image or text of the first screen load first, e.g. with fetchpriority="high" and without loading="lazy".',
    reference: "https://web.dev/articles/lcp",
  },
  tbt_ms: {
    id: "long-blocking-time",
    name: "Total blocking time",
    unit: " ms",
    good: 200,
    poor: 600,
    how: "Split long tasks of scripts into short ones, and defer scripts that the first screen does not need.",
    reference: "https://web.dev/articles/tbt",
  },
  cls: {
    id: "layout-shifts",
    name: "Cumulative layout shift",
    unit: "",
    good: 0.1,
    poor: 0.25,
    how: "Give images, frames and advertisements a width and height, so that nothing moves when they load.",
    reference: "https://web.dev/articles/cls",
  },
  ttfb_ms: {
    id: "slow-first-byte",
    name: "Time to first byte",
    unit: " ms",
    good: 800,
    poor: 1800,
    how: "Cache the page on the server or in a CDN near visitors, and remove redirects before it.",
    reference: "https://web.dev/articles/ttfb",
  },
};

/**
 * Returns a finding for each metric that is not good (warning if poor, else info), then one for each saving that
 * Lighthouse estimates.
 */
export function pagespeedFindings(metrics: LabMetrics, opportunities: readonly Opportunity[]): Finding[] {
  const slow = (Object.keys(METRIC_LIMITS) as (keyof LabMetrics)[]).flatMap((field): Finding[] => {
    const { id, name, unit, good, poor, how, reference } = METRIC_LIMITS[field];
    const value = metrics[field];
    if (value === null || value <= good) return [];
    const compared =
      value > poor ? `This is poor: the limit is ${poor}${unit}` : `A good value is at most ${good}${unit}`;
    const message = `${name} is ${value}${unit}. ${compared}.`;
    return [{ id, severity: value > poor ? "warning" : "info", message, how, reference, where: `metrics.${field}` }];
  });
  const savings = opportunities.map(({ id, title, savings_ms: ms, savings_bytes: bytes }): Finding => {
    const parts = [
      ...(ms === null ? [] : [`${ms} ms`]),
      ...(bytes === null ? [] : [`${Math.max(1, Math.round(bytes / 1024))} KiB`]),
    ];
    const message = `Lighthouse estimates that the page would save ${listAll(parts)}: ${title}.`;
    const reference = "https://developer.chrome.com/docs/lighthouse/performance/";
    return { id: "speed-opportunity", severity: "info", message, how: `${title}.`, reference, where: id };
  });
  return [...slow, ...savings];
}
