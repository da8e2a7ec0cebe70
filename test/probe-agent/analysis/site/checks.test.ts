import { describe, expect, it } from "vitest";
import type { CheckId } from "#probe-agent/analysis/site/checks.ts";
import { findingsOf } from "#probe-agent/tools/health/report.ts";
import type { HealthSnapshot, HttpFacts, TlsFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { GOOD_TLS, PERFECT } from "#test/probe-agent/analysis/site/snapshots.ts";

function points(id: CheckId, change: Partial<HealthSnapshot>): number | null {
  return findingsOf({ ...PERFECT, ...change })[id].score;
}

/** Tests the points of a check by the values of one header. undefined leaves the header out. */
function byHeader(
  id: CheckId,
  name: string,
  rows: readonly (readonly [value: string | undefined, points: number | null])[],
) {
  it(`${id} reads ${name}`, () => {
    const others = PERFECT.headers.filter(([one]) => one !== name);
    const scores = rows.map(([value]) =>
      points(id, { headers: value === undefined ? others : [...others, [name, value]] }),
    );
    expect(scores).toEqual(rows.map(([, expected]) => expected));
  });
}

describe("Security Headers", () => {
  byHeader("csp", "content-security-policy", [
    ["default-src 'none'", 9],
    ["script-src 'nonce-r4nd0mABC' 'strict-dynamic' 'unsafe-inline' https:; object-src 'none'; base-uri 'self'", 9],
    ["default-src 'self'", 8],
    ["default-src 'self'; style-src 'self' 'unsafe-inline'", 7],
    ["default-src 'self'; img-src http:", 4],
    ["default-src 'self' 'unsafe-eval'", 4],
    ["default-src 'self' 'unsafe-inline'", 2],
    ["default-src http://a.example", 1],
    ["nonsense", 2],
    ["x", 0],
    [undefined, 0],
  ]);
  it("csp gives a report-only policy 1 point and a policy in a meta element all points", () => {
    expect(points("csp", { headers: [["content-security-policy-report-only", "default-src 'none'"]] })).toBe(1);
    const page = readHtml(`<meta http-equiv=content-security-policy content="default-src 'none'">`);
    expect(points("csp", { headers: [], page })).toBe(9);
  });
  it("csp advises the one change that a policy over HTTP images needs, and no whole new policy", () => {
    const headers: readonly HeaderPair[] = [["content-security-policy", "default-src 'self'; img-src http:"]];
    expect(findingsOf({ ...PERFECT, headers }).csp.how).toMatch(/https:\/\/ in place of http:\/\/ in img-src/);
    const none = findingsOf({ ...PERFECT, headers: [] }).csp;
    expect(none.how).toBeUndefined();
  });
  byHeader("hsts", "strict-transport-security", [
    ["max-age=31536000; includeSubDomains", 7],
    ["max-age=31536000", 6],
    ["max-age=31535999; includeSubDomains", 4],
    ["max-age=15768000", 4],
    ["max-age=15767999", 2],
    ["max-age=0", 0],
    ["max-age=x", 0],
    [undefined, 0],
  ]);
  it("hsts gives no points over HTTP", () => {
    expect(points("hsts", { finalUrl: "http://example.com/" })).toBe(0);
  });
  byHeader("frame", "content-security-policy", [
    ["frame-ancestors 'self'", 4],
    ["frame-ancestors *", 0],
    ["frame-ancestors https:", 0],
    [undefined, 0],
  ]);
  it("frame reads X-Frame-Options if the policy has no frame-ancestors", () => {
    const frame = (...headers: HeaderPair[]) => points("frame", { headers });
    expect(frame(["x-frame-options", "DENY"])).toBe(4);
    expect(frame(["x-frame-options", "SAMEORIGIN"], ["x-frame-options", "sameorigin"])).toBe(4);
    expect(frame(["x-frame-options", "ALLOW-FROM https://a.example"])).toBe(1);
    expect(frame(["x-frame-options", "none"])).toBe(0);
    expect(frame(["x-frame-options", "DENY"], ["content-security-policy", "frame-ancestors *"])).toBe(0);
  });
  byHeader("nosniff", "x-content-type-options", [
    ["NOSNIFF", 4],
    ["nosniff, x", 4],
    ["sniff", 0],
    [undefined, 0],
  ]);
  byHeader("referrer", "referrer-policy", [
    ["same-origin", 3],
    ["bogus, no-referrer", 3],
    [undefined, 1],
    ["unsafe-url", 0],
    ["bogus", 0],
  ]);
  byHeader("permissions", "permissions-policy", [
    ['geolocation=(self "https://a.example"), camera=*, fullscreen', 1],
    ["camera 'none'", 0],
    ["camera=(", 0],
    ["", 0],
    [undefined, 0],
  ]);
  byHeader("isolation", "cross-origin-opener-policy", [
    ["same-origin-allow-popups", 2],
    ["unsafe-none", 1],
    [undefined, 1],
  ]);
});

describe("SSL/TLS", () => {
  const tls = (id: CheckId, change: Partial<TlsFacts>) => points(id, { tls: { ...GOOD_TLS, ...change } });
  it("trust gives all points or none", () => {
    expect([tls("trust", {}), tls("trust", { trusted: false }), tls("trust", { trusted: false })]).toEqual([8, 0, 0]);
    expect(points("trust", { tls: unknown("why") })).toBeNull();
  });
  it("ciphers counts the worst suite", () => {
    const none = { known: true, broken: null, open: false, fixed: null, cbc: null } as const;
    const taken = (suites: Partial<Record<"broken" | "fixed" | "cbc", string>>) =>
      tls("ciphers", { suites: { ...none, ...suites } });
    expect(taken({})).toBe(3);
    expect(taken({ cbc: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA" })).toBe(2);
    expect(taken({ cbc: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", fixed: "TLS_RSA_WITH_AES_128_GCM_SHA256" })).toBe(1);
    expect(taken({ broken: "TLS_RSA_WITH_RC4_128_SHA" })).toBe(0);
    expect(tls("ciphers", { suites: unknown("No answer.") })).toBeNull();
  });

  it("protocols requires 1.3 and no version below 1.2", () => {
    const offered = (below1_2: boolean | null, tls1_2: boolean, tls1_3: boolean, ssl3 = false) =>
      tls("protocols", { versions: { ssl3, below1_2, tls1_2, tls1_3 } });
    expect(offered(true, true, true, true)).toBe(0);
    expect([offered(false, true, true), offered(null, false, true), offered(false, true, false)]).toEqual([5, 5, 4]);
    expect([offered(true, true, true), offered(true, false, false)]).toEqual([2, 0]);
  });
  it("expiry scales with the lifetime", () => {
    const left = (daysLeft: number, lifetimeDays: number) => tls("expiry", { daysLeft, lifetimeDays });
    expect([left(31, 365), left(30, 365), left(8, 365), left(7, 365), left(-1, 365)]).toEqual([3, 1, 1, 0, 0]);
    expect([left(3, 6), left(2, 6), left(1, 6), left(0, 6)]).toEqual([3, 1, 1, 0]);
  });
  it("key counts key and signature", () => {
    expect([tls("key", { keyStrong: false }), tls("key", { keyStrong: false, signatureStrong: false })]).toEqual([
      1, 0,
    ]);
  });
  it("https_redirect follows the redirects from http://", () => {
    const route = (...urls: string[]): HttpFacts => ({
      known: true,
      open: true,
      route: urls.map((url) => ({ url, status: 301 })),
    });
    const rows: readonly (readonly [HttpFacts, number | null])[] = [
      [route("http://a.com/", "https://a.com/"), 4],
      [route("http://a.com:8080/", "https://a.com:8443/"), 4],
      [route("http://a.com/", "https://www.a.com/"), 3],
      [route("http://a.com/", "http://www.a.com/", "https://www.a.com/"), 2],
      [route("http://a.com/", "https://a.com/", "http://a.com/x"), 0],
      [route("http://a.com/"), 0],
      [{ known: true, open: false }, 4],
      [unknown("why"), null],
    ];
    expect(rows.map(([http]) => points("https_redirect", { http }))).toEqual(rows.map(([, expected]) => expected));
    expect(rows.map(([http]) => points("https_redirect", { http, preloaded: true }))).toEqual(rows.map(() => 4));
  });
});

describe("Performance", () => {
  const each = <T>(id: CheckId, values: readonly T[], change: (value: T) => Partial<HealthSnapshot>) =>
    values.map((value) => points(id, change(value)));
  const body = (change: Partial<HealthSnapshot["body"]>) => ({ body: { ...PERFECT.body, ...change } });
  it("ttfb uses the median", () => {
    expect(each("ttfb", [200, 201, 600, 800, 1800, 1801], (ms) => ({ ttfbSamplesMs: [ms] }))).toEqual([
      8, 7, 7, 6, 3, 0,
    ]);
    expect(points("ttfb", { ttfbSamplesMs: [5000, 100, 150] })).toBe(8);
    expect(points("ttfb", { ttfbSamplesMs: [100, 400] })).toBe(7);
  });
  it("total, size and redirects have steps", () => {
    expect(each("total", [1000, 2500, 4000, 4001], (totalMs) => ({ totalMs }))).toEqual([3, 2, 1, 0]);
    expect(points("total", body({ error: "incomplete" }))).toBe(0);
    expect(
      each("html_size", [102_400, 512_000, 1_048_576, 1_048_577], (transferredBytes) => body({ transferredBytes })),
    ).toEqual([3, 2, 1, 0]);
    expect(each("redirects", [0, 1, 2, 3], (redirects) => ({ redirects }))).toEqual([2, 2, 1, 0]);
    expect(each("http_version", ["2", "1.1", "1.0"], (httpVersion) => ({ httpVersion }))).toEqual([3, 1, 0]);
  });
  it("compression counts only for text of at least 1400 bytes", () => {
    expect(each("compression", ["br", "zstd", "gzip", "deflate", null], (encoding) => body({ encoding }))).toEqual([
      4, 4, 3, 3, 0,
    ]);
    expect(points("compression", body({ decodedBytes: 1399, encoding: null }))).toBeNull();
    expect(points("compression", { headers: [["content-type", "image/png"]] })).toBeNull();
  });
  it("caching requires a policy and a validator", () => {
    const caching = (...headers: HeaderPair[]) => points("caching", { headers });
    expect(caching(["cache-control", "max-age=60"], ["last-modified", "x"])).toBe(2);
    expect(caching(["cache-control", "no-store"])).toBe(2);
    expect(caching(["cache-control", "frob"], ["etag", "x"])).toBe(1);
    expect(caching()).toBe(0);
  });
});
