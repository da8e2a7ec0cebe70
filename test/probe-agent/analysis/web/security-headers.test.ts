import { describe, expect, it } from "vitest";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { securityReport } from "#probe-agent/tools/security/report.ts";
import { gradeSecurity, isGradable } from "#probe-agent/analysis/web/security-headers.ts";
import { SCORES, securityGrade } from "#probe-agent/analysis/web/security/scores.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

const BARE: SecuritySnapshot = {
  url: "https://www.example.com/",
  status: 200,
  https: true,
  verified: true,
  headers: [["Content-Type", "text/html; charset=utf-8"]],
  html: "",
  redirects: [
    { url: "http://www.example.com/", status: 301 },
    { url: "https://www.example.com/", status: 200 },
  ],
  cors: null,
  hsts_preloaded: null,
};

function result(name: string, change: Partial<SecuritySnapshot>): string {
  const found = gradeSecurity({ ...BARE, ...change }).tests.find((test) => test.name === name);
  return `${found?.result} ${found?.pass === true ? "pass" : "fail"} ${found?.score_modifier}`;
}

/** Rows of one header: the values that are sent, and the result. */
function headerRows(
  name: string,
  header: string,
  rows: readonly (readonly [values: readonly string[], expected: string])[],
) {
  describe(`the header ${header}`, () => {
    for (const [values, expected] of rows) {
      it(`${JSON.stringify(values)} is ${expected}`, () => {
        const headers = [...BARE.headers, ...values.map((value): HeaderPair => [header, value])];
        expect(result(name, { headers })).toBe(expected);
      });
    }
  });
}

headerRows("strict-transport-security", "Strict-Transport-Security", [
  [[], "hsts-not-implemented fail -20"],
  [["max-age=31536000; includeSubDomains; preload"], "hsts-implemented-max-age-at-least-six-months pass 0"],
  [['  MAX-AGE="15552000"  ;'], "hsts-implemented-max-age-at-least-six-months pass 0"],
  [["max-age=86400"], "hsts-implemented-max-age-less-than-six-months fail -10"],
  [["max-age=0"], "hsts-implemented-max-age-less-than-six-months fail -10"],
  [["includeSubDomains"], "hsts-header-invalid fail -20"],
  [["max-age=abc"], "hsts-header-invalid fail -20"],
  [["max-age=31536000; max-age=1"], "hsts-header-invalid fail -20"],
  [["max-age=31536000, max-age=31536000"], "hsts-header-invalid fail -20"],
  [["max-age=31536000", "max-age=31536000"], "hsts-header-invalid fail -20"],
]);

headerRows("x-frame-options", "X-Frame-Options", [
  [[], "x-frame-options-not-implemented fail -20"],
  [["deny "], "x-frame-options-sameorigin-or-deny pass 5"],
  [["SAMEORIGIN"], "x-frame-options-sameorigin-or-deny pass 5"],
  [["ALLOW-FROM https://a.example"], "x-frame-options-allow-from-origin pass 0"],
  [["sameorigin, sameorigin"], "x-frame-options-header-invalid fail -20"],
]);

headerRows("x-content-type-options", "X-Content-Type-Options", [
  [[], "x-content-type-options-not-implemented fail -5"],
  [["NoSniff "], "x-content-type-options-nosniff pass 0"],
  [["nosniff, nosniff"], "x-content-type-options-header-invalid fail -5"],
]);

headerRows("referrer-policy", "Referrer-Policy", [
  [[], "referrer-policy-not-implemented pass 0"],
  [["strict-origin-when-cross-origin"], "referrer-policy-private pass 5"],
  [["unsafe-url, no-referrer, whatever"], "referrer-policy-private pass 5"],
  [["no-referrer", "origin"], "referrer-policy-unsafe fail -5"],
  [["whatever"], "referrer-policy-header-invalid fail -5"],
]);

headerRows("cross-origin-resource-policy", "Cross-Origin-Resource-Policy", [
  [[], "corp-not-implemented pass 0"],
  [["Same-Site"], "corp-implemented-with-same-site pass 10"],
  [["cross-origin"], "corp-implemented-with-cross-origin pass 0"],
  [["same"], "corp-header-invalid fail -5"],
]);

headerRows("cross-origin-opener-policy", "Cross-Origin-Opener-Policy", [
  [[], "coop-not-implemented pass 0"],
  [['same-origin; report-to="x"'], "coop-implemented-with-same-origin pass 10"],
  [["noopener-allow-popups;report-to"], "coop-implemented-with-noopener-allow-popups pass 10"],
  [["Same-Origin"], "coop-header-invalid fail -5"],
  [['"same-origin"'], "coop-header-invalid fail -5"],
  [["same-origin; report-to=coop endpoint"], "coop-header-invalid fail -5"],
  [["same-origin", "unsafe-none"], "coop-header-invalid fail -5"],
]);

headerRows("cross-origin-embedder-policy", "Cross-Origin-Embedder-Policy", [
  [["credentialless"], "coep-implemented-with-credentialless pass 10"],
  [["unsafe-none"], "coep-implemented-with-unsafe-none pass 0"],
  [["none"], "coep-header-invalid fail -5"],
]);

headerRows("cookies", "Set-Cookie", [
  [[], "cookies-not-found pass 0"],
  [
    ["SESSIONID=x; Secure; HttpOnly", "a=b; Secure", "heroku-session-affinity=x"],
    "cookies-secure-with-httponly-sessions pass 0",
  ],
  [["SESSIONID=x; Secure; HttpOnly; SameSite=None"], "cookies-secure-with-httponly-sessions-and-samesite pass 5"],
  [["CSRFTOKEN=x; Secure; HttpOnly"], "cookies-anticsrf-without-samesite-flag fail -20"],
  [["SESSIONID=x; Secure; HttpOnly; SameSite="], "cookies-samesite-flag-invalid fail -20"],
  [["a=b; SameSite=None"], "cookies-samesite-flag-invalid fail -20"],
  [["a=b"], "cookies-without-secure-flag fail -20"],
  [["SESSIONID=x; Secure"], "cookies-session-without-httponly-flag fail -30"],
  [["loginid=x; HttpOnly"], "cookies-session-without-secure-flag fail -40"],
  [["a=b", "a=c; Secure; SameSite=Lax"], "cookies-secure-with-httponly-sessions-and-samesite pass 5"],
  [["a=b; Domain=other.example"], "cookies-not-found pass 0"],
]);

describe("tests of more than one input", () => {
  it("cookies cost fewer points with HSTS", () => {
    const hsts: HeaderPair = ["strict-transport-security", "max-age=31536000"];
    const cookie = (line: string) => result("cookies", { headers: [hsts, ["set-cookie", line]] });
    expect(cookie("a=b")).toBe("cookies-without-secure-flag-but-protected-by-hsts fail -5");
    expect(cookie("sess=b; HttpOnly")).toBe("cookies-session-without-secure-flag-but-protected-by-hsts fail -10");
  });

  it("HSTS needs HTTPS and a valid certificate, or the preload list", () => {
    const name = "strict-transport-security";
    expect(result(name, { https: false })).toBe("hsts-not-implemented-no-https fail -20");
    expect(result(name, { verified: false })).toBe("hsts-invalid-cert fail -20");
    expect(result(name, { hsts_preloaded: { include_subdomains: true } })).toBe("hsts-preloaded pass 5");
  });

  it("redirections", () => {
    const route = (...urls: string[]) =>
      result("redirection", { redirects: urls.map((url) => ({ url, status: 301 })) });
    expect(route()).toBe("redirection-not-needed-no-http pass 0");
    expect(route("http://www.example.com/")).toBe("redirection-missing fail -20");
    expect(route("http://www.example.com/", "https://www.example.com/")).toBe("redirection-to-https pass 0");
    expect(route("http://www.example.com/", "https://example.com/")).toBe("redirection-off-host-from-http fail -5");
    expect(route("http://a.com/", "http://b.com/", "https://b.com/")).toBe(
      "redirection-not-to-https-on-initial-redirection fail -10",
    );
    expect(route("http://a.com/", "https://a.com/", "http://a.com/x")).toBe("redirection-not-to-https fail -20");
    expect(result("redirection", { verified: false })).toBe("redirection-invalid-cert fail -20");
    expect(result("redirection", { hsts_preloaded: { include_subdomains: true } })).toBe(
      "redirection-all-redirects-preloaded pass 0",
    );
  });

  it("cross-origin resource sharing", () => {
    const origin = "https://probe.example";
    const cors = (...headers: HeaderPair[]) => result("cross-origin-resource-sharing", { cors: { origin, headers } });
    const start = "cross-origin-resource-sharing-";
    expect(cors()).toBe(`${start}not-implemented pass 0`);
    expect(cors(["Access-Control-Allow-Origin", " * "])).toBe(`${start}implemented-with-public-access pass 0`);
    const echo: HeaderPair = ["access-control-allow-origin", origin];
    expect(cors(echo)).toBe(`${start}implemented-with-restricted-access pass 0`);
    expect(cors(echo, ["access-control-allow-credentials", "TRUE "])).toBe(
      `${start}implemented-with-universal-access fail -50`,
    );
  });

  it("subresource integrity", () => {
    const sri = (html: string, url = BARE.url) => result("subresource-integrity", { html, url });
    const good = "<script src=https://cdn.other.com/x.js integrity=sha256-x></script>";
    expect(sri("<p>")).toBe("sri-not-implemented-but-no-scripts-loaded pass 0");
    expect(sri("<script>1</script><script src=/x.js></script>")).toBe(
      "sri-not-implemented-but-all-scripts-loaded-from-secure-origin pass 0",
    );
    expect(sri("<script src=/x.js integrity=sha256-x>")).toBe("sri-implemented-and-all-scripts-loaded-securely pass 5");
    expect(sri("<script src=https://cdn.example.com/x.js>")).toMatch("all-scripts-loaded-from-secure-origin pass 0");
    expect(sri(good)).toBe("sri-implemented-and-external-scripts-loaded-securely pass 5");
    expect(sri(`${good}<script src=https://a.other.com/y.js>`)).toBe(
      "sri-not-implemented-but-external-scripts-loaded-securely fail -5",
    );
    expect(sri("<script src=//cdn.other.com/x.js integrity=sha256-x>")).toBe(
      "sri-implemented-but-external-scripts-not-loaded-securely fail -20",
    );
    expect(sri("<script src=http://cdn.other.com/x.js>")).toBe(
      "sri-not-implemented-and-external-scripts-not-loaded-securely fail -50",
    );
    const headers: HeaderPair[] = [["content-type", "application/json"]];
    expect(result("subresource-integrity", { headers, html: good })).toBe(
      "sri-not-implemented-response-not-html pass 0",
    );
  });

  it("the policy and the referrer policy are also read from meta elements", () => {
    const html = `<meta http-equiv=Content-Security-Policy content="default-src 'none'"><meta name=referrer content=no-referrer>`;
    expect(result("content-security-policy", { html })).toBe("csp-implemented-with-no-unsafe-default-src-none pass 10");
    expect(result("referrer-policy", { html })).toBe("referrer-policy-private pass 5");
  });

  it("frame-ancestors of a header policy replaces X-Frame-Options", () => {
    const headers: HeaderPair[] = [["content-security-policy", "default-src 'self'; frame-ancestors 'none'"]];
    expect(result("x-frame-options", { headers })).toBe("x-frame-options-implemented-via-csp pass 5");
    const html = `<meta http-equiv=content-security-policy content="frame-ancestors 'none'">`;
    expect(result("x-frame-options", { html })).toBe("x-frame-options-not-implemented fail -20");
  });
});

describe("the grade", () => {
  const FULL: HeaderPair[] = [
    ["content-security-policy", "default-src 'none'; form-action 'none'; frame-ancestors 'none'"],
    ["strict-transport-security", "max-age=63072000"],
    ["x-content-type-options", "nosniff"],
    ["referrer-policy", "no-referrer"],
    ["cross-origin-resource-policy", "same-origin"],
  ];
  it("adds bonuses from an A upward and is limited to 100", () => {
    expect(gradeSecurity({ ...BARE, headers: FULL })).toMatchObject({ score: 100, raw_score: 130, grade: "A+" });
  });
  it("ignores bonuses below an A", () => {
    const headers = FULL.filter(([name]) => name !== "strict-transport-security");
    expect(gradeSecurity({ ...BARE, headers })).toMatchObject({ score: 80, raw_score: 80, grade: "B+" });
  });
  it("never falls below 0, and a bare site is an F", () => {
    expect(gradeSecurity({ ...BARE, html: "<script src=http://x.com/>" })).toMatchObject({ score: 0, grade: "F" });
    expect(gradeSecurity(BARE)).toMatchObject({ score: 30, grade: "D" });
  });
  it("follows MDN's chart", () => {
    const scores = [135, 100, 99, 90, 85, 84, 75, 65, 60, 55, 45, 40, 35, 25, 24, 0];
    expect(scores.map(securityGrade).join(" ")).toBe("A+ A+ A A A- B+ B B- C+ C C- D+ D D- F F");
  });
  it("treats repeated directives as MDN does on request", () => {
    const headers: HeaderPair[] = [["content-security-policy", "default-src 'none'; default-src 'self'"]];
    const own = gradeSecurity({ ...BARE, headers });
    expect(own.duplicate_directives).toEqual(["default-src"]);
    expect(own.tests[0]?.result).toBe("csp-implemented-with-no-unsafe-default-src-none");
    expect(gradeSecurity({ ...BARE, headers }, { compat: "mdn" }).tests[0]?.result).toBe("csp-header-invalid");
  });
  it("has MDN's own score beside ours", () => {
    const headers: HeaderPair[] = [["content-security-policy", "default-src 'none'; default-src *"]];
    const { url, status, https, verified, redirects, cors, hsts_preloaded } = BARE;
    const page = { url, status, headers, contentType: "text/html", page: readHtml(""), unread: false };
    const snapshot = { https, verified, redirects, cors, hsts_preloaded };
    const report = securityReport(page, { now: new Date("2026-01-01"), snapshot, redirectionKnown: true });
    expect(report.duplicate_directives).toEqual(["default-src"]);
    expect(report.mdn.raw_score).toBeLessThan(report.raw_score);
  });
  it("uses only results of the table", () => {
    for (const test of gradeSecurity(BARE).tests) expect(SCORES).toHaveProperty([test.result]);
  });
  it("applies to pages and sign-ins", () => {
    expect([200, 204, 301, 401, 403].every(isGradable)).toBe(true);
    expect([100, 404, 429, 500].some(isGradable)).toBe(false);
  });
});
