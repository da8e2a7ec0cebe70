import { describe, expect, it } from "vitest";
import { CHECK_ADVICE } from "#probe-agent/tools/performance/advice.ts";
import { performanceChecks, performanceScore } from "#probe-agent/tools/performance/checks.ts";
import {
  connectionReuse,
  performanceFindings,
  type PerformanceSubject,
} from "#probe-agent/tools/performance/findings.ts";
import type { ScoreInput } from "#probe-agent/tools/performance/score-input.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const IMAGES = { total: 4, lazy: 0, missing_dimensions: 0, modern_formats: 4, known_formats: 4, responsive: 0 };
const BEST: ScoreInput = {
  navigationTtfbMs: 90,
  ttfbMs: 40,
  redirects: 0,
  httpVersion: "2",
  texts: 5,
  compressedTexts: 5,
  totalBytes: 300_000,
  unknownSizes: 0,
  renderBlocking: 0,
  cacheable: 6,
  cachedLong: 6,
  elements: 200,
  images: IMAGES,
};
const WORST: ScoreInput = {
  navigationTtfbMs: 20_000,
  ttfbMs: 19_000,
  redirects: 5,
  httpVersion: "1.0",
  texts: 5,
  compressedTexts: 0,
  totalBytes: 900_000_000,
  unknownSizes: 3,
  renderBlocking: 40,
  cacheable: 6,
  cachedLong: 0,
  elements: 100_000,
  images: { ...IMAGES, missing_dimensions: 4, modern_formats: 0 },
};

const scoreOf = (facts: Partial<ScoreInput>) => performanceScore(performanceChecks({ ...BEST, ...facts }));
const checkOf = (id: string, facts: Partial<ScoreInput> = {}) =>
  performanceChecks({ ...BEST, ...facts }).find((check) => check.id === id);

describe("the score", () => {
  it("is 100 for the best page, 0 for the worst, and its points add up to 100", () => {
    const checks = performanceChecks(BEST);
    expect(checks.reduce((sum, { max }) => sum + max, 0)).toBe(100);
    expect(performanceScore(checks)).toBe(100);
    expect(performanceScore(performanceChecks(WORST))).toBe(0);
  });

  it.each([
    ["the first byte", { navigationTtfbMs: 2000 }],
    ["the server", { ttfbMs: 1500 }],
    ["redirects", { redirects: 3 }],
    ["the HTTP version", { httpVersion: "1.1" }],
    ["compression", { compressedTexts: 2 }],
    ["the weight", { totalBytes: 6e6 }],
    ["blocking resources", { renderBlocking: 3 }],
    ["caching", { cachedLong: 1 }],
    ["elements", { elements: 5000 }],
    ["dimensions", { images: { ...IMAGES, missing_dimensions: 4 } }],
    ["formats", { images: { ...IMAGES, modern_formats: 0 } }],
  ] as const)("falls with %s alone", (_what, worse) => {
    expect(scoreOf(worse)).toBeLessThan(100);
    expect(scoreOf(worse)).toBeGreaterThan(0);
  });

  it("falls step by step", () => {
    const byTtfb = [100, 500, 800, 1200, 1800, 4000].map((ms) => scoreOf({ navigationTtfbMs: ms }));
    expect(byTtfb).toEqual(byTtfb.toSorted((one, other) => other - one));
    const byBlocking = [0, 1, 3, 5, 8, 20].map((count) => scoreOf({ renderBlocking: count }));
    expect(byBlocking).toEqual([100, 97, 94, 91, 88, 85]);
  });

  it("leaves out checks that do not apply", () => {
    const nothing = { texts: 0, compressedTexts: 0, cacheable: 0, cachedLong: 0, elements: null, images: null };
    const na = performanceChecks({ ...BEST, ...nothing }).filter(({ status }) => status === "na");
    expect(na.map(({ id }) => id)).toEqual([
      "compression",
      "render_blocking",
      "caching",
      "dom_size",
      "image_dimensions",
      "image_formats",
    ]);
    expect(scoreOf(nothing)).toBe(100);
  });
});

describe("a check", () => {
  it("grades by the limits of Lighthouse and web.dev", () => {
    expect(checkOf("ttfb", { navigationTtfbMs: 800 })).toMatchObject({
      score: 18,
      max: 20,
      status: "pass",
      value: "800 ms",
    });
    expect(checkOf("ttfb", { navigationTtfbMs: 1800 })).toMatchObject({ score: 10, status: "warn" });
    expect(checkOf("page_weight", { totalBytes: 4000 * 1024 })).toMatchObject({ score: 8, max: 15, value: "4000 KiB" });
    expect(checkOf("dom_size", { elements: 1400 })).toMatchObject({ status: "warn" });
    expect(checkOf("server_response", { ttfbMs: 600 })).toMatchObject({ status: "warn", score: 5 });
  });

  it("says how many resources are left out of the weight", () => {
    expect(checkOf("page_weight", { unknownSizes: 2 })?.detail).toContain("without 2 of unknown size");
  });

  it("says what was found, in other words if it fails", () => {
    const worst = new Map(performanceChecks(WORST).map((one) => [one.id, one]));
    for (const { id, detail } of performanceChecks(BEST)) expect(worst.get(id)?.detail, id).not.toBe(detail);
    for (const { id, value, detail } of worst.values()) {
      expect(detail, id).toContain(/\d[\d.]*/.exec(value ?? "")?.[0]);
    }
    expect(checkOf("dom_size", { elements: 5000 })?.detail).toContain("5000 elements, more than the limit of 818");
    expect(checkOf("dom_size")?.detail).toBe("The page has 200 elements, within the limit of 818.");
    expect(checkOf("page_weight", { totalBytes: 6_144_000 })?.detail).toContain(
      "weigh 6000 KiB, more than the limit of 2667 KiB",
    );
  });

  it("counts shares", () => {
    expect(checkOf("compression", { texts: 4, compressedTexts: 1 })).toMatchObject({
      score: 3,
      status: "fail",
      value: "1 of 4",
    });
    expect(checkOf("redirects", { redirects: 2 })).toMatchObject({ status: "warn" });
    expect(checkOf("http_version", { httpVersion: "1.1" })).toMatchObject({ score: 2, status: "fail" });
  });
});

describe("connection reuse", () => {
  it.each([
    ["2", [], true],
    ["1.1", [["Keep-Alive", "timeout=5"]], true],
    ["1.1", [["connection", "Keep-Alive"]], true],
    // Vantage's own requests ask for it, so it shows nothing (RFC 9112 section 9.6).
    ["1.1", [["Connection", "close"]], null],
    ["1.1", [], null],
    ["1.0", [], false],
    ["1.0", [["Connection", "x, keep-alive"]], true],
  ] as const)("HTTP/%s with %j: %s", (version, headers, reusable) => {
    expect(connectionReuse(version, headers).reusable).toBe(reusable);
  });
});

function findingsOf(facts: ScoreInput, more: Partial<PerformanceSubject> = {}) {
  const urls = [1, 2, 3, 4].map((n) => ({ url: `https://example.com/${n}.css` }));
  return performanceFindings({
    finalUrl: "https://example.com/",
    code: 200,
    checks: performanceChecks(facts),
    resources: { bytes: { image: 8192 }, render_blocking: urls, without_compression: urls, without_cache: urls },
    preconnectMissing: [],
    broken: [],
    ...more,
  });
}

describe("findings", () => {
  it("are none for a fast page, and none is critical for a slow page", () => {
    expect(findingsOf(BEST)).toEqual([]);
    expect(kinds(findingsOf(WORST))).toEqual([
      "warning ttfb",
      "warning server-response",
      "warning redirects",
      "warning compression",
      "warning page-weight",
      "warning render-blocking",
      "warning caching",
      "warning http-version",
      "warning dom-size",
      "warning image-dimensions",
      "info image-formats",
    ]);
    expectWellFormed(findingsOf(WORST));
  });

  it("are of severity info for a check that only warns", () => {
    expect(kinds(findingsOf({ ...BEST, redirects: 2, elements: 1400 }))).toEqual(["info redirects", "info dom-size"]);
  });

  it("have advice for every check", () => {
    expect(Object.keys(CHECK_ADVICE)).toEqual(performanceChecks(BEST).map(({ id }) => id));
  });

  it("name the first affected resources, and the heaviest type", () => {
    const message = (id: string) => findingsOf(WORST).find((one) => one.id === id)?.message;
    expect(message("render-blocking")).toMatch(/waits for 40 resources\. For example: .*1\.css.*3\.css and others\.$/);
    expect(message("compression")).toMatch(/^0 of 5 texts are sent compressed\. .*Uncompressed: .*1\.css/);
    expect(message("page-weight")).toMatch(/of type image: 8 KiB\.$/);
    expect(findingsOf(WORST).find(({ id }) => id === "redirects")?.how).toContain("https://example.com/");
  });

  it.each([
    [404, "warning"],
    [503, "critical"],
  ])("are only one for an error page with status %i: %s", (code, severity) => {
    expect(kinds(findingsOf(WORST, { code }))).toEqual([`${severity} error-page`]);
  });
});
