import { expect, it } from "vitest";
import { CHECK_ADVICE } from "#probe-agent/tools/performance/advice.ts";
import { performanceChecks } from "#probe-agent/tools/performance/checks.ts";
import type { ScoreInput } from "#probe-agent/tools/performance/score-input.ts";
import { performanceFindings, type PerformanceSubject } from "#probe-agent/tools/performance/findings.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const IMAGES = { total: 4, lazy: 0, missing_dimensions: 4, modern_formats: 0, known_formats: 4, responsive: 0 };
const SLOW: ScoreInput = {
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
  images: IMAGES,
};
const FAST: ScoreInput = {
  ...SLOW,
  navigationTtfbMs: 90,
  ttfbMs: 40,
  redirects: 0,
  httpVersion: "2",
  compressedTexts: 5,
  totalBytes: 300_000,
  renderBlocking: 0,
  cachedLong: 6,
  elements: 200,
  images: { ...IMAGES, missing_dimensions: 0, modern_formats: 4 },
};

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

it("returns none for a fast page, and none that is critical for a slow page", () => {
  expect(findingsOf(FAST)).toEqual([]);
  expect(kinds(findingsOf(SLOW))).toEqual([
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
  expectWellFormed(findingsOf(SLOW));
});

it("returns info for a check that only warns", () => {
  expect(kinds(findingsOf({ ...FAST, redirects: 2, elements: 1400 }))).toEqual(["info redirects", "info dom-size"]);
});

it("has advice for every check", () => {
  expect(Object.keys(CHECK_ADVICE)).toEqual(performanceChecks(FAST).map(({ id }) => id));
});

it("names the first affected resources, and the heaviest type", () => {
  const message = (id: string) => findingsOf(SLOW).find((one) => one.id === id)?.message;
  expect(message("render-blocking")).toMatch(/waits for 40 resources\. For example: .*1\.css.*3\.css and others\.$/);
  expect(message("page-weight")).toMatch(/of type image: 8 KiB\.$/);
  expect(findingsOf(SLOW).find(({ id }) => id === "redirects")?.how).toContain("https://example.com/");
});

it.each([
  [404, "warning"],
  [503, "critical"],
])("returns only one finding for an error page with status %i: %s", (code, severity) => {
  expect(kinds(findingsOf(SLOW, { code }))).toEqual([`${severity} error-page`]);
});
