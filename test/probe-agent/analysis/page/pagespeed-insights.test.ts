import { describe, expect, it } from "vitest";
import {
  readExperience,
  readInsights,
  readPageError,
  type Insights,
} from "#probe-agent/analysis/page/pagespeed-insights.ts";
import { experience, insightsAnswer, insightsError } from "#test/support/insights.ts";

const SHOP = "https://shop.example/";

function read(value: unknown): Insights {
  const answer = readInsights(value);
  if (answer.kind !== "insights") throw new Error(JSON.stringify(answer));
  return answer.insights;
}

describe("a response of PageSpeed Insights", () => {
  it("has scores in percent and metrics in ms; null stays null", () => {
    expect(read(insightsAnswer(SHOP))).toMatchObject({
      finalUrl: "https://shop.example/start",
      scores: { performance: 87, accessibility: 100, best_practices: 79, seo: null },
      metrics: { fcp_ms: 1504, lcp_ms: 2905, tbt_ms: 121, cls: 0.0123, speed_index_ms: 3012, ttfb_ms: 571 },
      loaded: { requests: 3, bytes: 734_512 },
      conditions: {
        throttling: "simulated",
        cpu_slowdown: 1.2,
        rtt_ms: 150,
        throughput_kbps: 1638.4,
        width: 412,
        height: 823,
        browser: "HeadlessChrome/141.0.7390.122",
      },
      lighthouseVersion: "12.8.2",
      fetchedAt: "2026-10-02T11:22:33.444Z",
    });
  });

  it("lists failed audits with savings: opportunities and insights, most saved time first", () => {
    expect(read(insightsAnswer(SHOP)).opportunities).toEqual([
      {
        id: "render-blocking-resources",
        title: "Eliminate render-blocking resources",
        savings_ms: 620,
        savings_bytes: null,
        display_value: "Est savings of 620 ms",
      },
      {
        id: "lcp-discovery-insight",
        title: "LCP request discovery",
        savings_ms: 350,
        savings_bytes: null,
        display_value: null,
      },
      {
        id: "unused-javascript",
        title: "Reduce unused JavaScript",
        savings_ms: null,
        savings_bytes: 90_112,
        display_value: null,
      },
    ]);
  });

  it("has the 75th percentile of real visits, with layout shifts in their own unit", () => {
    const { url, origin } = read(insightsAnswer(SHOP)).field;
    expect(url).toEqual(origin);
    expect(url).toMatchObject({
      overall_category: "average",
      lcp: { p75: 2310, category: "fast" },
      inp: { p75: 212, category: "average" },
      cls: {
        p75: 0.07,
        category: "fast",
        distribution: [
          { min: 0, max: 0.1, proportion: 0.8124 },
          { min: 0.1, max: 0.25, proportion: 0.12 },
          { min: 0.25, max: null, proportion: 0.0676 },
        ],
      },
      fcp: { p75: 1822 },
      ttfb: { p75: 1905, category: "slow" },
    });
  });

  it("does not report the origin's visits as the page's", () => {
    const fallen = { ...insightsAnswer(SHOP), loadingExperience: experience(SHOP, { origin_fallback: true }) };
    expect(read(fallen).field).toMatchObject({ url: null, origin: { lcp: { p75: 2310 } } });
    const none = { ...insightsAnswer(SHOP), loadingExperience: { initial_url: SHOP }, originLoadingExperience: {} };
    expect(read(none).field).toEqual({ url: null, origin: null });
  });

  it("is the page's failure if Lighthouse could not load it", () => {
    const more = { runtimeError: { code: "NO_FCP", message: "The page did not paint any content." }, categories: {} };
    expect(readInsights(insightsAnswer(SHOP, "mobile", more))).toEqual({
      kind: "page_failed",
      code: "NO_FCP",
      message: "The page did not paint any content.",
    });
    expect(readInsights(insightsAnswer(SHOP, "mobile", { runtimeError: { code: "NO_ERROR" } })).kind).toBe("insights");
  });

  it.each([null, [], "x", 5, {}, { lighthouseResult: null }, { lighthouseResult: { categories: [] } }])(
    "%j is none",
    (value) => {
      expect(readInsights(value)).toEqual({ kind: "unreadable" });
    },
  );

  it("has null for a value that is of another type or not a number", () => {
    const odd = {
      categories: { performance: { score: "0.9" }, seo: { score: 7 }, accessibility: { score: -1 }, __proto__: 1 },
      audits: {
        "speed-index": { numericValue: Infinity },
        "first-contentful-paint": { numericValue: "5" },
        metrics: { details: { items: {} } },
      },
      fetchTime: "yesterday",
      finalDisplayedUrl: "javascript:alert(1)",
      finalUrl: 7,
      configSettings: { throttlingMethod: "constructor" },
      lighthouseVersion: { a: 1 },
      environment: null,
      userAgent: null,
      runWarnings: "none",
    };
    const insights = read(insightsAnswer(SHOP, "mobile", odd));
    expect(Object.values(insights.scores)).toEqual([null, null, null, null]);
    expect(Object.values(insights.metrics)).toEqual([null, null, null, null, null, null]);
    expect(insights).toMatchObject({
      finalUrl: null,
      lighthouseVersion: null,
      fetchedAt: "2026-10-02T11:22:40.000Z",
      conditions: { throttling: "unknown", browser: null },
      warnings: [],
    });
  });

  it("is bounded: many audits, long titles, control characters", () => {
    const audits = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [
        `audit-${n}`,
        { title: `\u0007${"x".repeat(100_000)}`, score: 0, details: { overallSavingsMs: n + 1 } },
      ]),
    );
    const { opportunities } = read(insightsAnswer(SHOP, "mobile", { audits }));
    expect(opportunities).toHaveLength(30);
    expect(opportunities[0]).toMatchObject({ savings_ms: 1000, title: "x".repeat(200) });
  });
});

describe("an error of PageSpeed Insights", () => {
  it("is about the page if Lighthouse says so", () => {
    const body = JSON.stringify(insightsError("FAILED_DOCUMENT_REQUEST", "(Details: net::ERR_TIMED_OUT)"));
    expect(readPageError(body)).toEqual({ code: "FAILED_DOCUMENT_REQUEST", message: "(Details: net::ERR_TIMED_OUT)" });
  });

  it("is not about the page if it is about the key or the quota", () => {
    for (const body of [
      "",
      "{}",
      '{"error":{"code":400,"message":"API key not valid."}}',
      "Lighthouse returned error: ",
    ])
      expect(readPageError(body)).toBeNull();
  });
});

describe("real visits", () => {
  it("are null without a valid metric", () => {
    for (const value of [null, {}, { metrics: {} }, { metrics: { LARGEST_CONTENTFUL_PAINT_MS: { percentile: "2" } } }])
      expect(readExperience(value)).toBeNull();
  });
});
