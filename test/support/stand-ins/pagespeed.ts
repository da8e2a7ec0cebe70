/** Builds an answer of PageSpeed Insights v5 (runPagespeed) with the parts that a client reads. */
export function pagespeedAnswer(url: string, strategy: string): object {
  const slow = strategy === "desktop" ? 1 : 2.4;
  return {
    captchaResult: "CAPTCHA_NOT_NEEDED",
    kind: "pagespeedonline#result",
    id: url,
    loadingExperience: { id: url, metrics: METRICS, overall_category: "FAST", initial_url: url },
    originLoadingExperience: {
      id: new URL(url).origin,
      metrics: METRICS,
      overall_category: "FAST",
      initial_url: url,
    },
    lighthouseResult: {
      requestedUrl: url,
      mainDocumentUrl: url,
      finalUrl: url,
      finalDisplayedUrl: url,
      lighthouseVersion: "12.8.2",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/140.0.0.0",
      fetchTime: "2026-03-04T10:00:00.000Z",
      runWarnings: [],
      configSettings: { emulatedFormFactor: strategy, formFactor: strategy, locale: "en-US", channel: "lr" },
      categories: Object.fromEntries(
        SCORES.map(([id, title, score]) => [id, { id, title, score, auditRefs: [] }] as const),
      ),
      audits: {
        ...Object.fromEntries(AUDITS.map(([id, title, value, unit]) => [id, audit(id, title, unit, value, slow)])),
        [BLOCKING.id]: BLOCKING,
      },
    },
    analysisUTCTimestamp: "2026-03-04T10:00:05.000Z",
  };
}

function audit(id: string, title: string, unit: string, value: number, slow: number): object {
  const numericValue = unit === "millisecond" ? value * slow : value;
  const displayValue = unit === "millisecond" ? `${(numericValue / 1000).toFixed(1)} s` : String(value);
  return { id, title, score: 0.9, scoreDisplayMode: "numeric", numericValue, numericUnit: unit, displayValue };
}

const BLOCKING = {
  id: "render-blocking-resources",
  title: "Eliminate render-blocking resources",
  description: "Resources are blocking the first paint of your page.",
  score: 0.5,
  scoreDisplayMode: "metricSavings",
  displayValue: "Est savings of 310 ms",
  metricSavings: { FCP: 300, LCP: 300 },
  details: { type: "opportunity", overallSavingsMs: 310, items: [], headings: [] },
};

const SCORES = [
  ["performance", "Performance", 0.93],
  ["accessibility", "Accessibility", 1],
  ["best-practices", "Best Practices", 0.96],
  ["seo", "SEO", 1],
] as const;

const AUDITS = [
  ["first-contentful-paint", "First Contentful Paint", 820, "millisecond"],
  ["largest-contentful-paint", "Largest Contentful Paint", 1_150, "millisecond"],
  ["total-blocking-time", "Total Blocking Time", 40, "millisecond"],
  ["speed-index", "Speed Index", 990, "millisecond"],
  ["interactive", "Time to Interactive", 1_400, "millisecond"],
  ["server-response-time", "Initial server response time was short", 90, "millisecond"],
  ["cumulative-layout-shift", "Cumulative Layout Shift", 0.02, "unitless"],
] as const;

function metric(percentile: number, bounds: readonly [number, number]): object {
  const [good, poor] = bounds;
  return {
    percentile,
    distributions: [
      { min: 0, max: good, proportion: 0.88 },
      { min: good, max: poor, proportion: 0.09 },
      { min: poor, proportion: 0.03 },
    ],
    category: "FAST",
  };
}

const METRICS = {
  LARGEST_CONTENTFUL_PAINT_MS: metric(1_840, [2_500, 4_000]),
  INTERACTION_TO_NEXT_PAINT: metric(120, [200, 500]),
  CUMULATIVE_LAYOUT_SHIFT_SCORE: metric(3, [10, 25]),
  FIRST_CONTENTFUL_PAINT_MS: metric(1_210, [1_800, 3_000]),
  EXPERIMENTAL_TIME_TO_FIRST_BYTE: metric(480, [800, 1_800]),
};
