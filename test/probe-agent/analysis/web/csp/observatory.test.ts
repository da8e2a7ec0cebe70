import { describe, expect, it } from "vitest";
import { classifyCsp, type CspDelivery, type CspResult } from "#probe-agent/analysis/web/csp/observatory.ts";

function classify(headers: readonly string[], more: Partial<CspDelivery> = {}) {
  return classifyCsp({ headers, reportOnlyHeaders: [], meta: [], https: true, ...more });
}

/** Policies by their class in MDN HTTP Observatory. */
const CLASSES: Readonly<Partial<Record<CspResult, readonly string[]>>> = {
  "csp-header-invalid": ["", "  ", "defa", ";;;;;;;;", "default-src 'none'; script-src 'strict-dynamic'"],
  "csp-implemented-with-unsafe-inline": [
    "script-src 'unsafe-inline'",
    "script-src data:",
    "script-src ftp:",
    "default-src 'UNSAFE-INLINE'",
    "upgrade-insecure-requests",
    "script-src 'none'",
    "script-src https://mozilla.org https:",
    "default-src *; script-src *; object-src 'none'",
    "default-src 'none'; script-src 'none'; object-src *",
    "default-src 'none'; script-src https://*",
    "default-src 'none'; script-src 'unsafe-inline' http:",
    "object-src https:; script-src 'none'",
  ],
  "csp-implemented-with-insecure-scheme": [
    "default-src http://mozilla.org",
    "default-src 'none'; script-src http://mozilla.org",
    "default-src 'none'; script-src ftp://mozilla.org",
  ],
  "csp-implemented-with-insecure-scheme-in-passive-content-only": [
    "default-src 'none'; img-src http://mozilla.org",
    "default-src 'self'; img-src ftp:",
    "default-src 'none'; img-src https:; media-src http://mozilla.org",
    "default-src 'none'; img-src 'none'; media-src http:; script-src 'self'; style-src 'unsafe-inline'",
  ],
  "csp-implemented-with-unsafe-eval": ["default-src 'none'; script-src 'unsafe-eval'"],
  "csp-implemented-with-unsafe-inline-in-style-src-only": [
    "object-src 'none'; script-src 'none'; style-src 'unsafe-inline'",
    "default-src 'unsafe-inline'; script-src https://mozilla.org",
    "default-src 'none';;; ;;;style-src 'self' 'unsafe-inline'",
    "default-src 'none'; style-src data:",
    "default-src 'none'; style-src https:",
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-hqBEA/HXB3aJU2FgOnYN8rkAgEVgyfi3Vs1j2/XMPBB=' 'unsafe-inline'",
  ],
  "csp-implemented-with-no-unsafe": [
    "default-src https://mozilla.org",
    "object-src 'none'; script-src https://mozilla.org; style-src https://mozilla.org; upgrade-insecure-requests;",
    "object-src 'none'; script-src 'strict-dynamic' 'nonce-abc' 'unsafe-inline'; style-src 'none'",
    "default-src https://mozilla.org; style-src 'unsafe-inline' 'nonce-abc123' 'unsafe-inline'",
  ],
  "csp-implemented-with-no-unsafe-default-src-none": [
    "default-src",
    "default-src 'none'; script-src 'strict-dynamic' 'nonce-abc123' 'unsafe-inline'",
    "default-src 'none'; script-src 'strict-dynamic' 'sha256-abc123' https://*",
    "default-src 'none'; object-src https://mozilla.org",
  ],
};

for (const [result, policies] of Object.entries(CLASSES)) {
  describe(`the class ${result}`, () => {
    for (const policy of policies)
      it(`applies to ${JSON.stringify(policy)}`, () => expect(classify([policy]).result).toBe(result));
  });
}

describe("several policies", () => {
  const none = "csp-implemented-with-no-unsafe-default-src-none";
  it("counts only what every policy lists", () => {
    expect(classify(["default-src http:"], { meta: ["default-src https:"] }).result).toBe(none);
    expect(classify(["default-src 'none'"], { meta: ["default-src https:"] }).result).toBe(none);
    expect(classify(["img-src 'none'"], { meta: ["default-src 'none'"] }).result).toBe(none);
    expect(classify(["default-src 'none', default-src 'self' https:"]).result).toBe(none);
    expect(classify(["script-src 'unsafe-inline'", "default-src 'self'"]).result).toBe(
      "csp-implemented-with-no-unsafe",
    );
  });
  it("keeps the narrower of two paths", () => {
    const merged = classify([
      "default-src https://a.com/",
      "default-src https://a.com/x https://a.community/",
    ]).directives;
    expect(merged["default-src"]).toEqual(["https://a.com/x"]);
  });
});

describe("a page without a policy", () => {
  it("is distinguished from report-only policies and ineffective meta policies", () => {
    expect(classify([]).result).toBe("csp-not-implemented");
    expect(classify([], { reportOnlyHeaders: ["default-src 'self'"] }).result).toBe(
      "csp-not-implemented-but-reporting-enabled",
    );
    expect(classify([], { meta: ["frame-ancestors 'none'"] }).result).toBe("csp-not-implemented");
  });
});

describe("differences from MDN, where we follow CSP3", () => {
  it("uses the first of repeated directives, unless MDN's published grade is requested", () => {
    const twice = "default-src 'none'; default-src *";
    expect(classify([twice])).toMatchObject({
      result: "csp-implemented-with-no-unsafe-default-src-none",
      duplicates: ["default-src"],
    });
    expect(classify([twice], { compat: "mdn" }).result).toBe("csp-header-invalid");
    const reporting = "default-src 'none'; report-uri /a; report-uri /b";
    expect(classify([reporting], { compat: "mdn" }).result).toBe("csp-implemented-but-duplicate-directives");
  });
  it("keeps the case of nonces and sources that share a prefix", () => {
    const { directives } = classify(["script-src 'nonce-AbC' https://A.com https://a.community; object-src 'none'"]);
    expect(directives["script-src"]).toEqual(["'nonce-AbC'", "https://a.com", "https://a.community"]);
  });
});

it("reads frame-ancestors from headers only", () => {
  const traits = (header: string) => classify([header]).traits?.antiClickjacking;
  expect(traits("default-src 'none'")).toBe(false);
  expect(traits("frame-ancestors https:")).toBe(false);
  expect(traits("default-src *; frame-ancestors 'none'")).toBe(true);
  expect(classify(["default-src 'self'"], { meta: ["frame-ancestors 'none'"] }).frameAncestors).toBeNull();
});

it("accepts http sources on an http page", () => {
  expect(classify(["default-src http://mozilla.org"], { https: false }).result).toBe("csp-implemented-with-no-unsafe");
});
