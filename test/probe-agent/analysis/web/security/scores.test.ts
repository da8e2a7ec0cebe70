import { describe, expect, it } from "vitest";
import { ALGORITHM_VERSION, gradeSecurity } from "#probe-agent/analysis/web/security-headers.ts";
import { BONUS_FROM, SCORES, securityGrade } from "#probe-agent/analysis/web/security/scores.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/**
 * MDN HTTP Observatory's score table, read on 2026-11-22 (github.com/mdn/mdn-http-observatory, src/grader/charts.js):
 * release 1.4.8 of 2025-10-07 (algorithm 4), pull request 332 of 2025-10-20 (X-Frame-Options, from 0 to 5 points) and
 * pull request 498 of 2026 (COEP and COOP). Together they are algorithm 6.
 */
const PUBLISHED: Readonly<Record<string, number>> = {
  "csp-implemented-with-no-unsafe-default-src-none": 10,
  "csp-implemented-with-no-unsafe": 5,
  "csp-implemented-with-unsafe-inline-in-style-src-only": 0,
  "csp-implemented-with-insecure-scheme-in-passive-content-only": -10,
  "csp-implemented-with-unsafe-eval": -10,
  "csp-implemented-with-unsafe-inline": -20,
  "csp-implemented-with-insecure-scheme": -20,
  "csp-header-invalid": -25,
  "csp-not-implemented": -25,
  "csp-not-implemented-but-reporting-enabled": -25,
  "csp-implemented-but-duplicate-directives": 0,
  "cookies-secure-with-httponly-sessions-and-samesite": 5,
  "cookies-secure-with-httponly-sessions": 0,
  "cookies-not-found": 0,
  "cookies-without-secure-flag-but-protected-by-hsts": -5,
  "cookies-session-without-secure-flag-but-protected-by-hsts": -10,
  "cookies-without-secure-flag": -20,
  "cookies-samesite-flag-invalid": -20,
  "cookies-anticsrf-without-samesite-flag": -20,
  "cookies-session-without-httponly-flag": -30,
  "cookies-session-without-secure-flag": -40,
  "cross-origin-resource-sharing-not-implemented": 0,
  "cross-origin-resource-sharing-implemented-with-public-access": 0,
  "cross-origin-resource-sharing-implemented-with-restricted-access": 0,
  "cross-origin-resource-sharing-implemented-with-universal-access": -50,
  "redirection-all-redirects-preloaded": 0,
  "redirection-to-https": 0,
  "redirection-not-needed-no-http": 0,
  "redirection-off-host-from-http": -5,
  "redirection-not-to-https-on-initial-redirection": -10,
  "redirection-not-to-https": -20,
  "redirection-missing": -20,
  "redirection-invalid-cert": -20,
  "referrer-policy-private": 5,
  "referrer-policy-not-implemented": 0,
  "referrer-policy-unsafe": -5,
  "referrer-policy-header-invalid": -5,
  "hsts-preloaded": 5,
  "hsts-implemented-max-age-at-least-six-months": 0,
  "hsts-implemented-max-age-less-than-six-months": -10,
  "hsts-not-implemented": -20,
  "hsts-header-invalid": -20,
  "hsts-not-implemented-no-https": -20,
  "hsts-invalid-cert": -20,
  "sri-implemented-and-all-scripts-loaded-securely": 5,
  "sri-implemented-and-external-scripts-loaded-securely": 5,
  "sri-not-implemented-response-not-html": 0,
  "sri-not-implemented-but-no-scripts-loaded": 0,
  "sri-not-implemented-but-all-scripts-loaded-from-secure-origin": 0,
  "sri-not-implemented-but-external-scripts-loaded-securely": -5,
  "sri-implemented-but-external-scripts-not-loaded-securely": -20,
  "sri-not-implemented-and-external-scripts-not-loaded-securely": -50,
  "x-content-type-options-nosniff": 0,
  "x-content-type-options-not-implemented": -5,
  "x-content-type-options-header-invalid": -5,
  "x-frame-options-implemented-via-csp": 5,
  "x-frame-options-sameorigin-or-deny": 5,
  "x-frame-options-allow-from-origin": 0,
  "x-frame-options-not-implemented": -20,
  "x-frame-options-header-invalid": -20,
  "corp-not-implemented": 0,
  "corp-implemented-with-same-origin": 10,
  "corp-implemented-with-same-site": 10,
  "corp-implemented-with-cross-origin": 0,
  "corp-header-invalid": -5,
  "coep-not-implemented": 0,
  "coep-implemented-with-require-corp": 10,
  "coep-implemented-with-credentialless": 10,
  "coep-implemented-with-unsafe-none": 0,
  "coep-header-invalid": -5,
  "coop-not-implemented": 0,
  "coop-implemented-with-same-origin": 10,
  "coop-implemented-with-same-origin-allow-popups": 10,
  "coop-implemented-with-noopener-allow-popups": 10,
  "coop-implemented-with-unsafe-none": 0,
  "coop-header-invalid": -5,
  "html-not-parseable": -20,
};

/** MDN's grade chart, from 100 down in steps of five. Scores are rounded down to a step. */
const CHART = "A+ A A A- B+ B B B- C+ C C C- D+ D D D- F F F F F".split(" ");

describe("the score table", () => {
  it("has the results and the points that MDN publishes for algorithm 6, and no others", () => {
    const ours = Object.entries(SCORES).map(([result, { modifier }]) => [result, modifier]);
    expect(Object.fromEntries(ours)).toEqual(PUBLISHED);
    expect(ALGORITHM_VERSION).toBe(6);
  });

  it("grades each score from 0 to 100 as MDN's chart does", () => {
    const scores = Array.from({ length: 101 }, (_, score) => score);
    expect(scores.map(securityGrade)).toEqual(scores.map((score) => CHART[20 - Math.floor(score / 5)]));
    expect(securityGrade(160)).toBe("A+");
  });
});

describe("points above 100", () => {
  // Scores without bonuses: 95, 90, 85.
  const page = (...headers: readonly HeaderPair[]): SecuritySnapshot => ({
    url: "https://www.example.com/",
    status: 200,
    https: true,
    verified: true,
    headers: [
      ["content-type", "text/html"],
      ["content-security-policy", "default-src 'self'"],
      ["strict-transport-security", "max-age=63072000"],
      ["x-frame-options", "DENY"],
      ...headers,
    ],
    html: "",
    redirects: [
      { url: "http://www.example.com/", status: 301 },
      { url: "https://www.example.com/", status: 200 },
    ],
    cors: null,
    hsts_preloaded: null,
  });

  it("count if the score without them is 90 or more", () => {
    expect(BONUS_FROM).toBe(90);
    // 100 - 5 (no nosniff) + 5 (policy) + 5 (X-Frame-Options)
    expect(gradeSecurity(page())).toMatchObject({ raw_score: 105, score: 100, grade: "A+" });
    expect(gradeSecurity(page(["referrer-policy", "unsafe-url"]))).toMatchObject({ raw_score: 100, grade: "A+" });
  });

  it("do not count below", () => {
    const headers: HeaderPair[] = [
      ["referrer-policy", "unsafe-url"],
      ["cross-origin-resource-policy", "invalid"],
    ];
    expect(gradeSecurity(page(...headers))).toMatchObject({ raw_score: 85, grade: "A-" });
  });
});
