import { expect, it } from "vitest";
import { METRIC_LIMITS, pagespeedFindings, type LabMetrics } from "#probe-agent/tools/pagespeed/findings.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const scaled = (field: "good" | "poor", by: number): LabMetrics => ({
  fcp_ms: METRIC_LIMITS.fcp_ms[field] * by,
  lcp_ms: METRIC_LIMITS.lcp_ms[field] * by,
  tbt_ms: METRIC_LIMITS.tbt_ms[field] * by,
  cls: METRIC_LIMITS.cls[field] * by,
  ttfb_ms: METRIC_LIMITS.ttfb_ms[field] * by,
});
const IDS = ["slow-first-paint", "slow-largest-paint", "long-blocking-time", "layout-shifts", "slow-first-byte"];

it("returns none for metrics at their limits and metrics not measured", () => {
  expect(pagespeedFindings(scaled("good", 1), [])).toEqual([]);
  expect(pagespeedFindings({ fcp_ms: null, lcp_ms: null, tbt_ms: null, cls: null, ttfb_ms: null }, [])).toEqual([]);
});

it("returns info for metrics that are not good, a warning for poor ones, and names the limit", () => {
  const fair = pagespeedFindings(scaled("poor", 1), []);
  expect(kinds(fair)).toEqual(IDS.map((id) => `info ${id}`));
  expect(fair[1]?.message).toBe("Largest contentful paint is 4000 ms. A good value is at most 2500 ms.");
  const poor = pagespeedFindings(scaled("poor", 2), []);
  expect(kinds(poor)).toEqual(IDS.map((id) => `warning ${id}`));
  expect(poor[1]).toMatchObject({
    message: "Largest contentful paint is 8000 ms. This is poor: the limit is 4000 ms.",
    where: "metrics.lcp_ms",
  });
  expectWellFormed(poor);
});
