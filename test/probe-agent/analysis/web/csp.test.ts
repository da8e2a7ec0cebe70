import { describe, expect, it } from "vitest";
import { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { meetSources } from "#probe-agent/analysis/web/csp/sources.ts";

const STRICT =
  "script-src 'nonce-r4nd0mABC' 'strict-dynamic' https: 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";

function analyse(...headers: string[]) {
  return analyseCsp(headers.map((header) => ({ header })));
}

function has(header: string, type: CspFinding["type"]): string[] {
  return analyse(header)
    .findings.filter((one) => one.type === type)
    .map((one) => `${one.severity} ${one.directive} ${one.value ?? ""}`.trim());
}

describe("the grade", () => {
  it("is F without a policy, and at most 30 points if all policies are report-only", () => {
    expect(analyseCsp([])).toMatchObject({ grade: "F", score: 0, findings: [], enforced: false });
    expect(analyseCsp([{ header: STRICT, reportOnly: true }])).toMatchObject({
      grade: "F",
      score: 30,
      enforced: false,
    });
  });
  it("is A+ for a strict policy", () => {
    const { grade, score, strict_csp, adjustments } = analyse(STRICT);
    expect({ grade, strict_csp }).toEqual({ grade: "A+", strict_csp: true });
    expect(score).toBe(100);
    expect(adjustments.map((one) => `${one.id} ${one.points}`)).toEqual(["style_unsafe_inline -5", "strict 5"]);
  });
  it.each([
    ["script-src 'self'; script-src-elem 'unsafe-inline' *", ["script_unsafe_inline", "script_broad"]],
    ["script-src 'self'; script-src-attr 'unsafe-inline'", ["script_unsafe_inline"]],
    ["script-src 'unsafe-inline' *; script-src-elem 'self'; script-src-attr 'none'", []],
    [
      "script-src 'unsafe-inline' 'unsafe-eval'; script-src-elem 'self'; script-src-attr 'none'",
      ["script_unsafe_eval"],
    ],
    ["script-src 'self'; script-src-elem http://a.example", ["active_http"]],
  ])("uses the directives that apply to elements and event handlers: %s", (header, expected) => {
    const ids = analyse(header).adjustments.map((one) => one.id);
    expect(ids.filter((id) => id.startsWith("script_") || id === "active_http")).toEqual(expected);
  });
  it("is not strict if event handlers run or elements load from anywhere", () => {
    expect(analyse(`${STRICT}; script-src-attr 'unsafe-inline'`)).toMatchObject({ strict_csp: false, score: 55 });
    expect(analyse(`${STRICT}; script-src-elem *`).strict_csp).toBe(false);
    expect(analyse(`${STRICT}; script-src-attr 'none'`)).toMatchObject({ strict_csp: true, score: 100 });
  });
  it("uses the weights of the grading table", () => {
    const ids = (header: string) => analyse(header).adjustments.map((one) => `${one.id} ${one.points}`);
    expect(ids("default-src 'self' 'unsafe-inline' 'unsafe-eval'")).toEqual([
      "script_unsafe_inline -40",
      "script_unsafe_eval -15",
      "base_uri_missing -5",
      "style_unsafe_inline -5",
      "form_action_missing -5",
      "frame_ancestors_missing -5",
    ]);
    expect(
      ids(
        "default-src 'none'; script-src 'nonce-x' ajax.googleapis.com; img-src http:; frame-ancestors 'none'; form-action 'none'; foo",
      ),
    ).toEqual(["base_uri_missing -15", "script_bypass -10", "passive_http -5", "nonce_weak -5", "syntax -5"]);
    expect(
      ids(
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      ),
    ).toEqual(["trusted_types 5"]);
  });
  it("never leaves 0 to 100", () => {
    expect(analyse("upgrade-insecure-requests; foo").score).toBe(0);
    expect(
      analyse(
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      ).score,
    ).toBe(100);
  });
});

describe("findings", () => {
  it("report syntax errors", () => {
    expect(has("script-src foo.bar object-src 'none'", "missing_semicolon")).toEqual(["syntax script-src object-src"]);
    expect(has("foobar-src foo.bar", "unknown_directive")).toEqual(["syntax foobar-src"]);
    expect(has("script-src strict-dynamic nonce-test 'foo' 'self'", "invalid_keyword")).toHaveLength(3);
    expect(has("img-src a.com; IMG-SRC b.com", "duplicate_directive")).toEqual(["syntax img-src"]);
    expect(has("referrer origin; reflected-xss block", "deprecated_directive")).toHaveLength(2);
    expect(has("script-src 'nonce-short' 'nonce-***notbase64'", "nonce_length")).toEqual([
      "medium script-src 'nonce-short'",
    ]);
    expect(has("script-src 'nonce-short' 'nonce-***notbase64'", "nonce_charset")).toHaveLength(1);
  });
  it("report weaknesses that an attacker can use", () => {
    expect(has("script-src 'unsafe-inline'", "script_unsafe_inline")).toEqual(["high script-src 'unsafe-inline'"]);
    expect(has("script-src 'unsafe-inline' 'nonce-foobar12'", "script_unsafe_inline")).toEqual([]);
    expect(has("default-src 'unsafe-eval'", "script_unsafe_eval")).toEqual(["medium_maybe default-src 'unsafe-eval'"]);
    expect(has("script-src data: http: https: sth:", "plain_url_schemes")).toHaveLength(3);
    expect(has("script-src * *.google.com; object-src https://*:*", "plain_wildcard")).toHaveLength(2);
    expect(has("script-src 'none'", "missing_directives")).toEqual(["high object-src"]);
    expect(has("object-src 'none'", "missing_directives")).toEqual(["high script-src"]);
    expect(has("script-src 'nonce-123456789'; object-src 'none'", "missing_directives")).toEqual(["high base-uri"]);
    expect(has("script-src 'sha256-abc='; object-src 'none'", "missing_directives")).toEqual([]);
    expect(has("script-src 127.0.0.1 [::1] 8.8.8.8", "ip_source")).toHaveLength(3);
    expect(has("script-src http://a.com; report-uri http://b.com/csp", "src_http")).toHaveLength(2);
  });
  it("report hosts that bypass an allow-list", () => {
    expect(has("script-src www.googletagmanager.com", "script_allowlist_bypass")).toEqual([
      "medium_maybe script-src www.googletagmanager.com",
    ]);
    expect(has("script-src www.googletagmanager.com 'unsafe-eval'", "script_allowlist_bypass")[0]).toMatch(/^high/);
    expect(analyse("script-src *.googleapis.com 'self'").bypass_hosts).toEqual(["*.googleapis.com"]);
    expect(has("script-src 'none'", "script_allowlist_bypass")).toEqual([]);
  });
  it("report what a policy lacks to be strict", () => {
    expect(has("script-src foo.bar", "strict_dynamic")).toEqual(["strict_csp script-src"]);
    expect(has("script-src 'strict-dynamic'", "strict_dynamic_not_standalone")).toEqual(["info script-src"]);
    expect(has("script-src 'nonce-abcdefgh'", "unsafe_inline_fallback")).toHaveLength(1);
    expect(has("script-src 'nonce-abcdefgh' 'strict-dynamic'", "allowlist_fallback")).toHaveLength(1);
    expect(has(STRICT, "ignored")).toHaveLength(2);
    expect(has("script-src 'self'; report-to main", "report_to_only")).toHaveLength(1);
  });
  it("leave out weaknesses that another policy prevents", () => {
    const types = analyse("script-src 'unsafe-inline'", "script-src 'self'; object-src 'none'").findings.map(
      (one) => one.type,
    );
    expect(types).not.toContain("script_unsafe_inline");
    expect(types).not.toContain("missing_directives");
  });
});

describe("several policies together", () => {
  it("allow only what each of them allows", () => {
    const { effective } = analyse(
      "default-src 'self' https: 'unsafe-inline'",
      "script-src https://cdn.example.com 'nonce-abcdefgh'; img-src *",
    );
    expect(effective.script_src).toEqual(["https://cdn.example.com", "'nonce-abcdefgh'"]);
    expect(effective.img_src).toEqual(["'self'", "https:"]);
    expect(effective.style_src).toEqual(["'self'", "https:", "'unsafe-inline'"]);
    expect(effective.base_uri).toBeNull();
    expect(analyse("script-src 'self', script-src https://a.com").effective.script_src).toEqual([]);
  });
  it("intersect pairs of sources", () => {
    const pairs: readonly (readonly [string, string, string | null])[] = [
      ["*", "https://a.com", "https://a.com"],
      ["*", "data:", null],
      ["http:", "https:", "https:"],
      ["https:", "a.com", "https://a.com"],
      ["https:", "http://a.com", "http://a.com"],
      ["*.a.com", "x.a.com", "x.a.com"],
      ["*.a.com", "a.com", null],
      ["https://a.com/js/", "https://a.com/js/x.js", "https://a.com/js/x.js"],
      ["https://a.com", "https://a.community", null],
      ["a.com:*", "a.com:8080", "a.com:8080"],
      ["'self'", "https:", "'self'"],
      ["'unsafe-inline'", "'sha256-abc'", "'sha256-abc'"],
      ["'nonce-a'", "'nonce-b'", null],
    ];
    expect(pairs.map(([one, other]) => meetSources(one, other))).toEqual(pairs.map(([, , met]) => met));
    expect(pairs.map(([one, other]) => meetSources(other, one))).toEqual(pairs.map(([, , met]) => met));
  });
});

describe("delivery", () => {
  it("ignores header-only directives in a meta element and does not split it at commas", () => {
    const report = analyseCsp([{ header: "frame-ancestors 'none'; default-src 'self', https://a.com", meta: true }]);
    expect(report.effective.frame_ancestors).toBeNull();
    expect(report.policies).toHaveLength(1);
    expect(report.findings.map((one) => one.type)).toContain("ignored_in_meta");
  });
  it("keeps the case of nonces, hashes and paths", () => {
    expect(analyse("SCRIPT-SRC 'NONCE-AbC' HTTPS://CDN.Example.com/Path 'Unsafe-Eval'").effective.script_src).toEqual([
      "'nonce-AbC'",
      "https://cdn.example.com/Path",
      "'unsafe-eval'",
    ]);
  });
  it("survives JSON", () => {
    const report = analyse(STRICT, "default-src 'none'");
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});

it("analyses a hundred kilobytes of any text quickly", () => {
  const fill = (text: string): string => text.repeat(Math.floor(100_000 / text.length));
  for (const text of [fill(";"), fill("a,"), fill("a;"), fill("' "), `script-src ${fill("a ")}`, fill(" ")])
    analyse(text, text);
  const hosts = (suffix: string): string =>
    `script-src ${Array.from({ length: 8000 }, (_, n) => `h${n}.${suffix}`).join(" ")}`;
  const report = analyse(hosts("a"), hosts("b"), hosts("a"));
  expect(report.findings.length).toBeLessThan(200);
});
