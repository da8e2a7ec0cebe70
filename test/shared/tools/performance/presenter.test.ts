import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { performance } from "#shared/tools/performance/contract.ts";

describe("the presentation of performance", () => {
  it("begins with grade, first byte and weight, and lists the checks that cost points first", () => {
    const shown = presentExample(performance);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: grade A+, 95 of 100, first byte after 6 ms, 193.7 kB in 10 requests");
    expect(shown.tables[0]?.rows.slice(0, 4).map(({ cells }) => cells.slice(0, 3))).toEqual([
      ["Render-blocking resources", "fair", "12 of 15"],
      ["Browser caching", "fair", "9 of 10"],
      ["Image formats", "poor", "1 of 2"],
      ["Time to first byte", "good", "20 of 20"],
    ]);
  });

  it("draws the phases that happened one after the other", () => {
    const [series] = presentExample(performance).series;
    expect(series?.bars.map(({ label }) => label)).toEqual([
      "DNS lookup",
      "TCP connection",
      "TLS handshake",
      "Waiting for the first byte",
      "Download",
    ]);
    expect(series?.bars[1]).toMatchObject({ start: 2.496, length: 0.314 });
  });

  it("marks a slow first byte, and is a warning at most for a low grade", () => {
    const shown = presentExample(performance, () => ({
      grade: "F",
      score: 31,
      ttfb_rating: "poor",
      navigation_ttfb_ms: 2_340,
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toContain("grade F, 31 of 100, first byte after 2.34 s");
    expect(shown.facts[1]).toEqual({ label: "First byte", value: "2.34 s, poor", tone: "warning" });
  });

  it("does not grade an error page", () => {
    const shown = presentExample(performance, () => ({ code: 503, score: null, grade: null }));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("shop.test is an error page (status 503): its speed is not graded");
    expect(factOf(shown, "Grade")).toBeNull();
    expect(shown.tables.map(({ title }) => title)).not.toContain("Checks");
  });

  it("lists what blocks the first paint with the largest first, and what has no known size last", () => {
    const file = (url: string, bytes: number | null) => ({ url, type: "script", bytes, third_party: false });
    const shown = presentExample(performance, ({ resources }) => ({
      resources: {
        ...resources,
        render_blocking: [file("a", 10), file("b", null), file("c", 2_000)],
        render_blocking_total: 9,
      },
    }));
    const listed = shown.tables.find(({ title }) => title === "Blocks the first paint");
    expect(listed?.rows.map(({ cells }) => cells)).toEqual([
      ["2 kB", "script", "c"],
      ["10 B", "script", "a"],
      ["unknown", "script", "b"],
    ]);
    expect(listed?.more).toBe(6);
  });
});
