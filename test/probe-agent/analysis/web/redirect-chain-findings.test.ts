import { describe, expect, it } from "vitest";
import { siteChanges } from "#probe-agent/analysis/web/redirects.ts";
import { findChainFaults } from "#probe-agent/analysis/web/redirect-chain-findings.ts";
import type { FoundRefresh, RedirectChain, RedirectStep } from "#probe-agent/analysis/web/redirect-chain.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const HERE = "https://a.test/";

interface Response {
  readonly url?: string;
  readonly code?: number;
  /** Location lines as sent. The first one resolves to `to`. */
  readonly sent?: readonly string[];
  readonly to?: string;
  readonly refresh?: Partial<FoundRefresh>;
  readonly authorized?: boolean;
}

function step({ url = HERE, code = 200, sent = [], to, refresh, authorized = true }: Response): RedirectStep {
  const headers = sent.map((value) => ["Location", value] as const);
  const tls = url.startsWith("https:") ? { authorized, error: authorized ? null : "untrusted" } : null;
  const found = { kind: "meta", delaySeconds: 0, target: new URL("https://a.test/b"), reloads: false, ...refresh };
  return {
    hop: { url, code, headers, location: to ?? null, tls },
    startedAtUs: 0,
    refresh: refresh === undefined ? null : found,
  } as unknown as RedirectStep;
}

function findingsOf(responses: readonly Response[], end: Partial<RedirectChain> = {}) {
  const findings = findChainFaults({ steps: responses.map(step), stopped: null, deadEnd: null, elapsedUs: 0, ...end });
  expectWellFormed(findings);
  return findings;
}

const to = (url: string, code = 301): Response => ({ code, sent: [url], to: url });
const LONG = `https://a.test/?${"x".repeat(3000)}`;

describe("the findings about a chain", () => {
  it.each<[string, readonly Response[], readonly string[]]>([
    ["a page", [{}], []],
    ["a status that leaves the choice", [{ code: 300, sent: ["/"], to: HERE }], ["info multiple-choices"]],
    ["a 304 that nobody asked for", [{ code: 304 }], ["warning unexpected-304"]],
    ["a proxy to use", [{ code: 305, sent: ["/"], to: HERE }], ["critical obsolete-status"]],
    ["no Location", [{ code: 302 }], ["critical missing-location"]],
    ["an empty Location", [{ code: 302, sent: [""] }], ["critical bad-location"]],
    ["a Location that is no URL", [{ code: 302, sent: ["http://[::1/"] }], ["critical bad-location"]],
    ["two Locations", [{ code: 302, sent: ["/a", "/b"] }], ["critical several-locations"]],
    ["a mail address", [to("mailto:someone@example.test", 302)], ["critical other-scheme"]],
    ["a Location of more than 2 KB", [to(LONG), { url: LONG }], ["warning long-location"]],
    ["bare characters", [{ ...to("https://a.test/%C3%A9%20x"), sent: ["/é x"] }, {}], ["warning unencoded-location"]],
    ["a Location without a scheme", [{ ...to(HERE), sent: ["//a.test/"] }, {}], ["info scheme-relative-location"]],
    ["an upgrade for now", [{ url: "http://a.test/", ...to(HERE, 302) }, {}], ["info temporary-upgrade"]],
    ["an upgrade for good", [{ url: "http://a.test/", ...to(HERE, 301) }, {}], []],
    ["a downgrade", [to("http://a.test/"), { url: "http://a.test/" }], ["warning downgrade", "warning ends-at-http"]],
    ["four redirects", [to(HERE), to(HERE), to(HERE), to(HERE), {}], ["warning long-chain"]],
    ["a final 404", [{ code: 404 }], ["critical ends-in-error"]],
    ["a final 403, which may concern only the probe", [{ code: 403 }], ["warning ends-in-error"]],
    ["a certificate without trust", [{ authorized: false }], ["critical bad-certificate"]],
    ["a refresh", [{ refresh: {} }, {}], ["warning refresh"]],
    ["a refresh that waits", [{ refresh: { delaySeconds: 6 } }], ["info slow-refresh"]],
    ["a refresh to its own page", [{ refresh: { reloads: true } }], ["info reloads-itself"]],
    ["a refresh to no page", [{ refresh: { target: null } }], ["critical refresh-target"]],
    ["a refresh without scripts", [{ refresh: { kind: "noscript" } }], ["info noscript-refresh"]],
  ])("%s", (_what, responses, expected) => {
    expect(kinds(findingsOf(responses))).toEqual(expected);
  });
});

it("a change of the registrable domain is listed with its redirect, and one of the scheme is named", () => {
  const changes = (...urls: readonly string[]) => siteChanges(urls.map((url) => new URL(url)));
  expect(changes("http://one.test/", "http://www.one.test/", "https://two.test/")).toEqual({
    https_upgrade: true,
    downgrade: false,
    cross_domain: [{ hop: 2, from: "one.test", to: "two.test" }],
  });
  expect(changes(HERE, "http://a.test/")).toEqual({ https_upgrade: false, downgrade: true, cross_domain: [] });
});
