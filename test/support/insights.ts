/** Builds distributions and percentile of one metric, as the Chrome UX Report has them. */
function fieldMetric(percentile: number, good: number, poor: number, category = "FAST"): object {
  const distributions = [
    { min: 0, max: good, proportion: 0.81236 },
    { min: good, max: poor, proportion: 0.12 },
    { min: poor, proportion: 0.06764 },
  ];
  return { percentile, distributions, category };
}

/** Builds field data in the form of loadingExperience. */
export function experience(id: string, more: object = {}): object {
  return {
    id,
    metrics: {
      LARGEST_CONTENTFUL_PAINT_MS: fieldMetric(2310, 2500, 4000),
      INTERACTION_TO_NEXT_PAINT: fieldMetric(212, 200, 500, "AVERAGE"),
      CUMULATIVE_LAYOUT_SHIFT_SCORE: fieldMetric(7, 10, 25),
      FIRST_CONTENTFUL_PAINT_MS: fieldMetric(1822, 1800, 3000, "AVERAGE"),
      EXPERIMENTAL_TIME_TO_FIRST_BYTE: fieldMetric(1905, 800, 1800, "SLOW"),
    },
    overall_category: "AVERAGE",
    initial_url: id,
    ...more,
  };
}

function numeric(id: string, numericValue: number, score: number): object {
  return {
    id,
    title: id,
    description: "",
    score,
    scoreDisplayMode: "numeric",
    numericValue,
    numericUnit: "millisecond",
  };
}

/** Builds a result of runPagespeed v5 in the form of Lighthouse 12, with the important parts only. */
export function insightsAnswer(url: string, strategy = "mobile", more: object = {}): object {
  return {
    captchaResult: "CAPTCHA_NOT_NEEDED",
    kind: "pagespeedonline#result",
    id: url,
    loadingExperience: experience(url),
    originLoadingExperience: experience(new URL(url).origin),
    lighthouseResult: {
      requestedUrl: url,
      finalUrl: url,
      mainDocumentUrl: url,
      finalDisplayedUrl: `${url}start`,
      lighthouseVersion: "12.8.2",
      userAgent:
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.7390.122 Safari/537.36",
      fetchTime: "2026-10-02T11:22:33.444Z",
      environment: { hostUserAgent: "Mozilla/5.0 HeadlessChrome/141.0.7390.122 Safari/537.36", benchmarkIndex: 900 },
      runWarnings: ["The page may not be loading as expected because your test URL was redirected."],
      configSettings: {
        emulatedFormFactor: strategy,
        formFactor: strategy,
        locale: "en-US",
        onlyCategories: ["accessibility", "best-practices", "performance", "seo"],
        channel: "lr",
        throttlingMethod: "simulate",
        throttling: { rttMs: 150, throughputKbps: 1638.4, cpuSlowdownMultiplier: 1.2 },
        screenEmulation: { width: 412, height: 823, deviceScaleFactor: 1.75, mobile: true },
      },
      categories: {
        performance: { id: "performance", title: "Performance", score: 0.87, auditRefs: [] },
        accessibility: { id: "accessibility", title: "Accessibility", score: 1, auditRefs: [] },
        "best-practices": { id: "best-practices", title: "Best Practices", score: 0.785, auditRefs: [] },
        seo: { id: "seo", title: "SEO", score: null, auditRefs: [] },
      },
      audits: {
        "first-contentful-paint": numeric("first-contentful-paint", 1504.4, 0.96),
        "largest-contentful-paint": numeric("largest-contentful-paint", 2904.6, 0.8),
        "total-blocking-time": numeric("total-blocking-time", 120.5, 0.97),
        "cumulative-layout-shift": { ...numeric("cumulative-layout-shift", 0.012345, 1), numericUnit: "unitless" },
        "speed-index": numeric("speed-index", 3012.2, 0.94),
        "server-response-time": numeric("server-response-time", 90, 1),
        metrics: {
          id: "metrics",
          details: { type: "debugdata", items: [{ timeToFirstByte: 571, interactive: 3000 }] },
        },
        "total-byte-weight": { ...numeric("total-byte-weight", 734_512, 1), numericUnit: "byte" },
        "network-requests": { id: "network-requests", details: { type: "table", items: [{}, {}, {}] } },
        "render-blocking-resources": {
          id: "render-blocking-resources",
          title: "Eliminate render-blocking resources",
          score: 0,
          displayValue: "Est savings of 620 ms",
          metricSavings: { FCP: 600, LCP: 600 },
          details: { type: "opportunity", overallSavingsMs: 620, items: [] },
        },
        "unused-javascript": {
          id: "unused-javascript",
          title: "Reduce unused JavaScript",
          score: 0.5,
          details: { type: "opportunity", overallSavingsMs: 0, overallSavingsBytes: 90_112, items: [] },
        },
        "uses-text-compression": {
          id: "uses-text-compression",
          title: "Enable text compression",
          score: 1,
          details: { type: "opportunity", overallSavingsMs: 150, items: [] },
        },
        "lcp-discovery-insight": {
          id: "lcp-discovery-insight",
          title: "LCP request discovery",
          score: 0,
          metricSavings: { LCP: 350, FCP: 0 },
          details: { type: "list", items: [] },
        },
      },
      ...more,
    },
    analysisUTCTimestamp: "2026-10-02T11:22:40.000Z",
  };
}

/**
 * Builds an error of the API about the page, as it is sent with status 400 (lighthouseUserError) or 500
 * (lighthouseError).
 */
export function insightsError(code: string, words: string): object {
  const message = `Lighthouse returned error: ${code}. ${words}`;
  return { error: { code: 400, message, errors: [{ message, domain: "lighthouse", reason: "lighthouseUserError" }] } };
}
