import { expect, it } from "vitest";
import { jsonBytes } from "#probe-agent/analysis/text/json-size.ts";
import { cspReport } from "#probe-agent/tools/csp/report.ts";
import { CSP_ADVICE } from "#probe-agent/analysis/web/csp/advice.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { expectWellFormed } from "#test/support/findings.ts";

const PAGE = { page: null, url: "https://example.com/", status: 200, unread: false, contentType: "text/html" } as const;

function findingsOf(policy: string | null, { html = "<p>", reportOnly = false } = {}) {
  const name = reportOnly ? "Content-Security-Policy-Report-Only" : "Content-Security-Policy";
  const headers: HeaderPair[] = policy === null ? [] : [[name, policy]];
  return cspReport({ ...PAGE, headers, page: readHtml(html) }).fields.findings;
}

const meta = (content: string) => `<meta http-equiv=content-security-policy content="${content}">`;
const ALL = "script-src 'nonce-abcdefgh' 'strict-dynamic'";

/** One page for each kind: severity, where, and a part of the advice. */
type Row = readonly [id: string, severity: string, where: string | null, how: string | null, policy: string | null];

const KINDS: readonly (Row | readonly [...Row, page: { readonly html?: string; readonly reportOnly?: boolean }])[] = [
  ["policy-missing", "warning", null, "default-src 'self'; object-src 'none'", null],
  ["policy-not-enforced", "warning", null, "Content-Security-Policy header", "script-src 'self'", { reportOnly: true }],
  ["missing-semicolon", "warning", "script-src object-src", "semicolon", "script-src a.com object-src 'none'"],
  ["unknown-directive", "warning", "scripts-src", "scripts-src", "scripts-src 'self'"],
  ["invalid-keyword", "warning", "script-src self", "'self'", "script-src self"],
  ["duplicate-directive", "warning", "img-src", "one img-src", "img-src a.com; img-src b.com"],
  ["ignored-in-meta", "warning", "sandbox", "header", null, { html: `${meta("sandbox")}<p>` }],
  ["meta-after-script", "warning", "meta", "header", null, { html: `<script>1</script>${meta("img-src a.com")}` }],
  ["meta-outside-head", "warning", "meta", "header", null, { html: `<p>${meta("img-src a.com")}` }],
  [
    "report-only-in-meta",
    "warning",
    "meta",
    "Content-Security-Policy-Report-Only header",
    null,
    { html: '<meta http-equiv=content-security-policy-report-only content="x">' },
  ],
  ["undefined-reporting-group", "warning", "report-to main", 'Reporting-Endpoints: main="', `${ALL}; report-to main`],
  ["nonce-charset", "info", "script-src 'nonce-***notbase64'", "base64", "script-src 'nonce-***notbase64'"],
  ["nonce-length", "warning", "script-src 'nonce-short'", "16 random bytes", "script-src 'nonce-short'"],
  ["missing-directives", "warning", "object-src", "object-src 'none'", "script-src 'self'"],
  ["missing-directives", "info", "form-action", "form-action 'self'", "script-src 'self'"],
  ["missing-directives", "info", "base-uri", "base-uri 'none'", "script-src 'self'"],
  ["missing-directives", "warning", "base-uri", "base-uri 'none'", ALL],
  ["script-unsafe-inline", "warning", "script-src 'unsafe-inline'", "'nonce-RANDOM'", "script-src 'unsafe-inline'"],
  ["script-unsafe-hashes", "info", "script-src 'unsafe-hashes'", "addEventListener", "script-src 'unsafe-hashes'"],
  ["script-unsafe-eval", "warning", "script-src 'unsafe-eval'", "remove 'unsafe-eval'", "script-src 'unsafe-eval'"],
  ["plain-url-schemes", "warning", "script-src https:", "Replace https:", "script-src https:"],
  ["plain-wildcard", "warning", "script-src *", "Replace *", "script-src *"],
  ["script-allowlist-bypass", "info", "script-src a.com", "'strict-dynamic'", "script-src a.com"],
  ["script-allowlist-bypass", "warning", "script-src unpkg.com", "'strict-dynamic'", "script-src unpkg.com"],
  ["object-allowlist-bypass", "info", "object-src a.com", "object-src 'none'", "object-src a.com"],
  ["ip-source", "info", "script-src 192.0.2.1", "Remove 192.0.2.1", "script-src 192.0.2.1"],
  ["deprecated-directive", "info", "referrer", "Remove referrer", "referrer origin"],
  ["src-http", "warning", "img-src http://a.com", "https://a.com", "img-src http://a.com"],
  ["style-unsafe-inline", "info", "style-src 'unsafe-inline'", "nonce", "style-src 'unsafe-inline'"],
  ["strict-dynamic", "info", "script-src", "'strict-dynamic'", "script-src a.com"],
  ["strict-dynamic-not-standalone", "warning", "script-src", "'nonce-RANDOM'", "script-src 'strict-dynamic'"],
  ["unsafe-inline-fallback", "info", "script-src", "'unsafe-inline'", ALL],
  ["allowlist-fallback", "info", "script-src", "https:", ALL],
  ["ignored", "info", "script-src a.com", null, `${ALL} a.com`],
  ["require-trusted-types-for-scripts", "info", "require-trusted-types-for", "'script'", ALL],
  ["reporting-destination-missing", "info", "report-uri", "report-uri https://", ALL],
  ["report-to-only", "info", "report-to", "report-uri", `${ALL}; report-to main`],
  ["truncated", "info", null, "Shorten", `img-src ${"https://a.example ".repeat(60_000)}`],
];

it.each(KINDS)("%s is a finding of severity %s about %s", (...row) => {
  const [id, severity, where, how, policy, page] = row;
  const findings = findingsOf(policy, page);
  expectWellFormed(findings);
  const found = findings.find((one) => one.id === id && one.where === where);
  expect(found).toMatchObject({ severity, reference: expect.stringContaining("Content-Security-Policy") });
  if (how === null) expect(found?.how).toBeNull();
  else expect(found?.how).toContain(how);
});

it("covers every type of the analysis in the table above", () => {
  const shown = new Set(KINDS.map(([id]) => id.replaceAll("-", "_")));
  expect(Object.keys(CSP_ADVICE).filter((type) => !shown.has(type))).toEqual([]);
});

it("lists ten findings of a type for thousands of bad values, and says how many are left out", () => {
  const hosts = Array.from({ length: 2000 }, (_, n) => `h${n}.example`).join(" ");
  const headers: HeaderPair[] = [["Content-Security-Policy", `script-src ${hosts}`]];
  const report = cspReport({ ...PAGE, headers });
  const { findings } = report.fields;
  expect(findings.filter(({ id }) => id === "script-allowlist-bypass")).toHaveLength(10);
  expect(jsonBytes(findings)).toBeLessThan(40_000);
  expect(report.limitations.join(" ")).toMatch(/\d+ more findings of the same kinds are not listed/);
});
