import { describe, expect, it } from "vitest";
import { conditionsOf } from "#probe-agent/analysis/page/pagespeed-conditions.ts";
import { scorePerformance } from "#probe-agent/tools/pagespeed/findings.ts";

describe("the performance score of a local load", () => {
  it("is that of Lighthouse, with the speed index's weight shared by the other metrics", () => {
    // Lighthouse's calculator (v10, mobile): FCP 1800 -> 90, LCP 2500 -> 90, TBT 200 -> 90, CLS 0.1 -> 90.
    expect(scorePerformance({ fcp_ms: 1800, lcp_ms: 2500, tbt_ms: 200, cls: 0.1 }, "mobile")).toBe(90);
    expect(scorePerformance({ fcp_ms: 3000, lcp_ms: 4000, tbt_ms: 600, cls: 0.25 }, "mobile")).toBe(50);
    expect(scorePerformance({ fcp_ms: 934, lcp_ms: 1200, tbt_ms: 150, cls: 0.1 }, "desktop")).toBe(90);
    // (10 x 1 + 25 x 1 + 30 x 0 + 25 x 1) / 90
    expect(scorePerformance({ fcp_ms: 100, lcp_ms: 100, tbt_ms: 60_000, cls: 0 }, "mobile")).toBe(67);
  });

  it("is stricter for desktops", () => {
    const metrics = { fcp_ms: 1500, lcp_ms: 2400, tbt_ms: 300, cls: 0 };
    expect(scorePerformance(metrics, "desktop")).toBeLessThan(scorePerformance(metrics, "mobile") ?? 0);
  });

  it("is null if a metric is missing", () => {
    const whole = { fcp_ms: 1, lcp_ms: 1, tbt_ms: 1, cls: 0 };
    for (const name of Object.keys(whole)) expect(scorePerformance({ ...whole, [name]: null }, "mobile")).toBeNull();
  });
});

describe("the conditions of a local load", () => {
  it("are those of Lighthouse for throttling while loading", () => {
    expect(conditionsOf("mobile")).toEqual({
      width: 412,
      height: 823,
      deviceScaleFactor: 1.75,
      mobile: true,
      cpuSlowdown: 4,
      requestLatencyMs: 562.5,
      downloadKbps: 1475,
      uploadKbps: 675,
    });
    expect(conditionsOf("desktop")).toMatchObject({
      width: 1350,
      height: 940,
      mobile: false,
      cpuSlowdown: 1,
      requestLatencyMs: 150,
    });
  });
});
