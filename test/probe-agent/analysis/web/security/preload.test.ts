import { describe, expect, it } from "vitest";
import { GUIDE } from "#probe-agent/analysis/web/security/described-findings.ts";
import { headerInventory } from "#probe-agent/tools/security/security.ts";
import { evaluatePreload, type PreloadEvidence } from "#probe-agent/analysis/web/security/preload.ts";
import { gradeSecurity } from "#probe-agent/analysis/web/security-headers.ts";
import { SCORES } from "#probe-agent/analysis/web/security/scores.ts";

const GOOD = "max-age=31536000; includeSubDomains; preload";
const READY: PreloadEvidence = {
  domain: "example.com",
  https: { answered: true, verified: true, hsts: [GOOD] },
  http: { open: true, location: "https://example.com/" },
};

function judge(change: Partial<PreloadEvidence>) {
  const { eligible, faults } = evaluatePreload({ ...READY, ...change });
  return { eligible, codes: faults.map((fault) => fault.code) };
}

function sent(...hsts: readonly string[]) {
  return judge({ https: { answered: true, verified: true, hsts } });
}

describe("an entry in the preload list", () => {
  it("is possible for a domain that satisfies every rule", () => {
    expect(judge({})).toEqual({ eligible: true, codes: [] });
    expect(judge({ http: { open: false } })).toEqual({ eligible: true, codes: [] });
  });

  it.each([
    [[], ["response.no_header"]],
    [[GOOD, GOOD], ["response.multiple_headers"]],
    [["max-age=31535999; includeSubDomains; preload"], ["header.preloadable.max_age.below_1_year"]],
    [["max-age=63072000; preload"], ["header.preloadable.include_sub_domains.missing"]],
    [["max-age=63072000; includeSubDomains"], ["header.preloadable.preload.missing"]],
    [
      ["nonsense"],
      [
        "header.preloadable.max_age.below_1_year",
        "header.preloadable.include_sub_domains.missing",
        "header.preloadable.preload.missing",
      ],
    ],
  ])("is impossible with the headers %j", (headers, codes) => {
    expect(sent(...headers)).toEqual({ eligible: false, codes });
  });

  it.each([
    [null, "redirects.http.no_redirect"],
    ["https://www.example.com/", "redirects.http.www_first"],
    ["http://www.example.com/", "redirects.http.www_first"],
    ["http://example.com/x", "redirects.http.first_redirect.insecure"],
    ["https://other.example/", "redirects.http.first_redirect.insecure"],
  ])("is impossible if http:// leads to %s", (location, code) => {
    expect(judge({ http: { open: true, location } })).toEqual({ eligible: false, codes: [code] });
  });

  it("is impossible without a certificate, a response or a domain", () => {
    expect(judge({ https: { answered: true, verified: false, hsts: [GOOD] } }).codes).toEqual([
      "domain.tls.invalid_cert_chain",
    ]);
    expect(judge({ https: { answered: false } }).codes).toEqual(["domain.tls.cannot_connect"]);
    expect(judge({ domain: null })).toEqual({ eligible: false, codes: ["domain.name.cannot_compute_etld1"] });
  });

  it("is unknown if an observation is missing, unless a rule is already violated", () => {
    expect(judge({ http: null })).toEqual({ eligible: null, codes: [] });
    expect(judge({ https: null })).toEqual({ eligible: null, codes: [] });
    expect(judge({ https: null, http: { open: true, location: null } }).eligible).toBe(false);
  });
});

describe("the inventory of headers", () => {
  it("lists present and missing headers, and hides the values of cookies", () => {
    const { present, missing, raw, cut } = headerInventory([
      ["x-frame-options", "DENY"],
      ["Set-Cookie", "sid=s3cret; Path=/; HttpOnly"],
      ["set-cookie", "naked"],
      ["X-Frame-Options", "SAMEORIGIN"],
    ]);
    expect(present).toEqual([{ name: "X-Frame-Options", value: "DENY, SAMEORIGIN" }]);
    expect(missing).toHaveLength(8);
    expect(raw.map(({ value }) => value)).toEqual(["DENY", "sid=(hidden); Path=/; HttpOnly", "(hidden)", "SAMEORIGIN"]);
    expect(cut).toBe(false);
  });

  it("truncates a list that is too long", () => {
    const { raw, cut } = headerInventory(Array.from({ length: 1000 }, (_, n) => [`h${n}`, "v".repeat(5000)] as const));
    expect([raw.length < 30, cut]).toEqual([true, true]);
  });
});

it("expects a known result of each test", () => {
  const { tests } = gradeSecurity({
    url: "https://a.example/",
    status: 200,
    https: true,
    verified: true,
    headers: [],
    html: "",
    redirects: [],
    cors: null,
    hsts_preloaded: null,
  });
  expect(Object.keys(GUIDE)).toEqual(tests.map((test) => test.name));
  for (const { expectation } of Object.values(GUIDE)) expect(SCORES).toHaveProperty([expectation]);
});
