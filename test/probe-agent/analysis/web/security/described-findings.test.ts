import { expect, it } from "vitest";
import { gradeSecurity } from "#probe-agent/analysis/web/security-headers.ts";
import {
  describeFailedTests,
  describePreloadFaults,
  FAILED_TESTS,
  PRELOAD_ADVICE,
} from "#probe-agent/analysis/web/security/described-findings.ts";
import { SCORES } from "#probe-agent/analysis/web/security/scores.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { expectWellFormed } from "#test/support/findings.ts";

const asTest = (result: string) => ({
  name: "content-security-policy",
  result,
  pass: false,
  score_modifier: SCORES[result]?.modifier ?? 0,
  value: null,
  recommendation: SCORES[result]?.advice ?? null,
});

it("describes every result that costs points, with advice", () => {
  const costly = Object.keys(SCORES).filter((result) => (SCORES[result]?.modifier ?? 0) < 0);
  expect(Object.keys(FAILED_TESTS).toSorted()).toEqual(costly.toSorted());
  const findings = describeFailedTests(costly.map(asTest));
  expectWellFormed(fitFindings(findings).findings);
  expect(findings.filter(({ how }) => how === null)).toEqual([]);
});

it.each([
  ["cross-origin-resource-sharing-implemented-with-universal-access", "critical"],
  ["redirection-invalid-cert", "critical"],
  ["hsts-invalid-cert", "critical"],
  ["csp-not-implemented", "warning"],
  ["cookies-session-without-secure-flag", "warning"],
  ["hsts-implemented-max-age-less-than-six-months", "warning"],
  ["x-content-type-options-not-implemented", "info"],
  ["referrer-policy-unsafe", "info"],
])("%s is of severity %s", (result, severity) => {
  expect(describeFailedTests([asTest(result)])[0]).toMatchObject({ id: result, severity });
});

it("reports the tests that fail on a bare page, each with MDN's name of the test", () => {
  const { tests } = gradeSecurity({
    url: "https://example.com/",
    status: 200,
    https: true,
    verified: true,
    headers: [["Referrer-Policy", "unsafe-url"]],
    html: "<p>",
    redirects: [],
    cors: null,
    hsts_preloaded: null,
  });
  expect(describeFailedTests(tests).map(({ id, where }) => `${where}: ${id}`)).toEqual([
    "content-security-policy: csp-not-implemented",
    "referrer-policy: referrer-policy-unsafe",
    "strict-transport-security: hsts-not-implemented",
    "x-content-type-options: x-content-type-options-not-implemented",
    "x-frame-options: x-frame-options-not-implemented",
  ]);
});

it("faults for the preload list are warnings if the site requests to be listed", () => {
  const faults = Object.keys(PRELOAD_ADVICE).map((code) => ({ code, message: "It may not" }));
  expect(new Set(describePreloadFaults(faults, true, "a.example").map(({ severity }) => severity))).toEqual(
    new Set(["warning"]),
  );
  const known = describePreloadFaults(faults, false, "a.example");
  expectWellFormed(known);
  expect(known[2]).toMatchObject({ id: "preload-domain-tls-invalid-cert-chain", severity: "info", where: "a.example" });
});
