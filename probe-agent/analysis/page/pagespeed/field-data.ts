import { amountOf, membersOf } from "#probe-agent/analysis/page/pagespeed/read.ts";

type Category = "fast" | "average" | "slow";

/** One metric of real visits. */
interface FieldMetric {
  readonly p75: number;
  readonly category: Category | null;
  readonly distribution: { readonly min: number; readonly max: number | null; readonly proportion: number }[];
}

/** Metrics of the Chrome UX Report for a page or an origin. */
export interface FieldExperience {
  readonly overall_category: Category | null;
  readonly lcp: FieldMetric | null;
  readonly inp: FieldMetric | null;
  readonly cls: FieldMetric | null;
  readonly fcp: FieldMetric | null;
  readonly ttfb: FieldMetric | null;
}

const METRICS = {
  lcp: ["LARGEST_CONTENTFUL_PAINT_MS"],
  inp: ["INTERACTION_TO_NEXT_PAINT", "EXPERIMENTAL_INTERACTION_TO_NEXT_PAINT"],
  cls: ["CUMULATIVE_LAYOUT_SHIFT_SCORE"],
  fcp: ["FIRST_CONTENTFUL_PAINT_MS"],
  ttfb: ["EXPERIMENTAL_TIME_TO_FIRST_BYTE"],
} as const;
/** The API reports layout shifts in hundredths. */
const SHIFT_UNIT = 100;
const MAX_RANGES = 10;

/**
 * Parses loadingExperience or originLoadingExperience of PageSpeed Insights v5. Returns null if it contains no metric.
 * `percentile` is the 75th, although the API's documentation says otherwise (googleapis/google-api-python-client issue
 * 2241).
 */
export function readExperience(value: unknown): FieldExperience | null {
  const { metrics, overall_category: overall } = membersOf(value);
  const members = membersOf(metrics);
  const read = (name: keyof typeof METRICS) => {
    const found = METRICS[name].map((key) => members[key]).find((one) => one !== undefined);
    return readMetric(found, name === "cls" ? SHIFT_UNIT : 1);
  };
  const experience = { lcp: read("lcp"), inp: read("inp"), cls: read("cls"), fcp: read("fcp"), ttfb: read("ttfb") };
  if (Object.values(experience).every((metric) => metric === null)) return null;
  return { overall_category: categoryOf(overall), ...experience };
}

/** Reports whether PageSpeed Insights returned the origin's visits instead, because the page has too few. */
export function isOriginFallback(loadingExperience: unknown): boolean {
  return membersOf(loadingExperience)["origin_fallback"] === true;
}

function readMetric(value: unknown, unit: number): FieldMetric | null {
  const { percentile, category, distributions } = membersOf(value);
  const p75 = amountOf(percentile);
  if (p75 === null) return null;
  const ranges: unknown[] = Array.isArray(distributions) ? distributions : [];
  return {
    p75: p75 / unit,
    category: categoryOf(category),
    distribution: ranges.slice(0, MAX_RANGES).flatMap((range) => {
      const { min, max, proportion } = membersOf(range);
      const [from, to, share] = [amountOf(min), amountOf(max), amountOf(proportion)];
      if (from === null || share === null) return [];
      return [{ min: from / unit, max: to === null ? null : to / unit, proportion: Math.round(share * 1e4) / 1e4 }];
    }),
  };
}

function categoryOf(value: unknown): Category | null {
  const word = typeof value === "string" ? value.toLowerCase() : "";
  return word === "fast" || word === "average" || word === "slow" ? word : null;
}
