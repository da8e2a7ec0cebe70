import { readOpportunities, type Opportunity } from "#probe-agent/analysis/page/pagespeed-opportunities.ts";
import { amountOf, lineOf, membersOf, wholeOf } from "#probe-agent/analysis/page/pagespeed-read.ts";

/** Parsed response of PageSpeed Insights. */
export interface Insights {
  readonly finalUrl: string | null;
  readonly scores: Readonly<Record<"performance" | "accessibility" | "best_practices" | "seo", number | null>>;
  readonly metrics: {
    readonly fcp_ms: number | null;
    readonly lcp_ms: number | null;
    readonly tbt_ms: number | null;
    readonly cls: number | null;
    readonly speed_index_ms: number | null;
    readonly ttfb_ms: number | null;
  };
  readonly field: { readonly url: FieldExperience | null; readonly origin: FieldExperience | null };
  readonly opportunities: readonly Opportunity[];
  readonly loaded: { readonly requests: number; readonly bytes: number } | null;
  readonly conditions: {
    readonly throttling: "simulated" | "applied" | "none" | "unknown";
    readonly cpu_slowdown: number | null;
    readonly rtt_ms: number | null;
    readonly throughput_kbps: number | null;
    readonly width: number | null;
    readonly height: number | null;
    readonly browser: string | null;
  };
  readonly lighthouseVersion: string | null;
  /** ISO 8601 UTC. */
  readonly fetchedAt: string | null;
  /** Warnings of Lighthouse. */
  readonly warnings: readonly string[];
}

/** A parsed response, a failure of Lighthouse to measure the page, or an unreadable response. */
type InsightsAnswer =
  | { readonly kind: "insights"; readonly insights: Insights }
  | { readonly kind: "page_failed"; readonly code: string; readonly message: string }
  | { readonly kind: "unreadable" };

const THROTTLING = { simulate: "simulated", devtools: "applied", provided: "none" } as const;
const MAX_WARNINGS = 10;

/** Parses a result of runPagespeed v5 (Lighthouse 10 to 13). Missing values are null. */
export function readInsights(value: unknown): InsightsAnswer {
  const { lighthouseResult, loadingExperience, originLoadingExperience } = membersOf(value);
  const result = membersOf(lighthouseResult);
  const { code, message } = membersOf(result["runtimeError"]);
  if (typeof code === "string" && code !== "NO_ERROR" && code !== "") {
    return { kind: "page_failed", code: lineOf(code, 60) ?? "", message: lineOf(message, 300) ?? "" };
  }
  const categories = membersOf(result["categories"]);
  if (Object.keys(categories).length === 0) return { kind: "unreadable" };
  const audits = membersOf(result["audits"]);
  const metric = (id: string): number | null => amountOf(membersOf(audits[id])["numericValue"]);
  const whole = (id: string): number | null => wholeOf(metric(id));
  const shift = metric("cumulative-layout-shift");
  const own = isOriginFallback(loadingExperience) ? null : readExperience(loadingExperience);
  const warnings: unknown[] = Array.isArray(result["runWarnings"]) ? result["runWarnings"] : [];
  return {
    kind: "insights",
    insights: {
      finalUrl: urlOf(result["finalDisplayedUrl"]) ?? urlOf(result["finalUrl"]),
      scores: {
        performance: scoreOf(categories["performance"]),
        accessibility: scoreOf(categories["accessibility"]),
        best_practices: scoreOf(categories["best-practices"]),
        seo: scoreOf(categories["seo"]),
      },
      metrics: {
        fcp_ms: whole("first-contentful-paint"),
        lcp_ms: whole("largest-contentful-paint"),
        tbt_ms: whole("total-blocking-time"),
        cls: shift === null ? null : Math.round(shift * 1e4) / 1e4,
        speed_index_ms: whole("speed-index"),
        ttfb_ms: firstByteOf(audits),
      },
      field: { url: own, origin: readExperience(originLoadingExperience) },
      opportunities: readOpportunities(audits),
      loaded: loadedOf(audits),
      conditions: conditionsOf(result),
      lighthouseVersion: lineOf(result["lighthouseVersion"], 40),
      fetchedAt: timeOf(result["fetchTime"]) ?? timeOf(membersOf(value)["analysisUTCTimestamp"]),
      warnings: warnings.slice(0, MAX_WARNINGS).flatMap((warning) => lineOf(warning, 300) ?? []),
    },
  };
}

/** Parses an error body of the API. Returns null if the error is not about the page. */
export function readPageError(body: string): { readonly code: string; readonly message: string } | null {
  const [, code, rest = ""] =
    /Lighthouse returned error: ([A-Z][A-Z_]{2,60})\.?\s*([^"\\]{0,300})/.exec(body.slice(0, 65_536)) ?? [];
  return code === undefined ? null : { code, message: lineOf(rest, 300) ?? "" };
}

function scoreOf(category: unknown): number | null {
  const score = amountOf(membersOf(category)["score"]);
  return score === null || score > 1 ? null : Math.round(100 * score);
}

/**
 * Returns the time to first byte. The list of all metrics has it in every version, a separate audit up to Lighthouse
 * 12.
 */
function firstByteOf(audits: Readonly<Record<string, unknown>>): number | null {
  const { items } = membersOf(membersOf(audits["metrics"])["details"]);
  const [first] = Array.isArray(items) ? (items as unknown[]) : [];
  return (
    wholeOf(membersOf(first)["timeToFirstByte"]) ?? wholeOf(membersOf(audits["server-response-time"])["numericValue"])
  );
}

function loadedOf(audits: Readonly<Record<string, unknown>>): Insights["loaded"] {
  const { items } = membersOf(membersOf(audits["network-requests"])["details"]);
  const bytes = wholeOf(membersOf(audits["total-byte-weight"])["numericValue"]);
  return Array.isArray(items) && bytes !== null ? { requests: items.length, bytes } : null;
}

function conditionsOf(result: Readonly<Record<string, unknown>>): Insights["conditions"] {
  const { throttlingMethod, throttling, screenEmulation } = membersOf(result["configSettings"]);
  const { cpuSlowdownMultiplier, rttMs, throughputKbps } = membersOf(throttling);
  const { width, height } = membersOf(screenEmulation);
  const { hostUserAgent } = membersOf(result["environment"]);
  const agent = typeof hostUserAgent === "string" ? hostUserAgent : result["userAgent"];
  const method = typeof throttlingMethod === "string" ? throttlingMethod : "";
  return {
    throttling: Object.hasOwn(THROTTLING, method) ? THROTTLING[method as keyof typeof THROTTLING] : "unknown",
    cpu_slowdown: amountOf(cpuSlowdownMultiplier),
    rtt_ms: amountOf(rttMs),
    throughput_kbps: amountOf(throughputKbps),
    width: wholeOf(width),
    height: wholeOf(height),
    browser: typeof agent === "string" ? (/(?:Headless)?Chrom(?:e|ium)\/[\d.]{1,30}/.exec(agent)?.[0] ?? null) : null,
  };
}

function urlOf(value: unknown): string | null {
  const url = typeof value === "string" && value.length <= 8192 ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}

function timeOf(value: unknown): string | null {
  const time = typeof value === "string" && value.length < 40 ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

type Category = "fast" | "average" | "slow";

/** One metric of real visits. */
interface FieldMetric {
  readonly p75: number;
  readonly category: Category | null;
  readonly distribution: { readonly min: number; readonly max: number | null; readonly proportion: number }[];
}

/** Metrics of the Chrome UX Report for a page or an origin. */
interface FieldExperience {
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
function isOriginFallback(loadingExperience: unknown): boolean {
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
