import { describe, expect, it } from "vitest";
import type { RedirectStep } from "#probe-agent/analysis/web/redirect-chain.ts";
import { hstsOf } from "#probe-agent/analysis/web/redirects.ts";

function step(url: string, header?: string, authorized = true): RedirectStep {
  const headers = header === undefined ? [] : [["Strict-Transport-Security", header]];
  const tls = url.startsWith("https:") ? { authorized } : null;
  return { hop: { url, headers, tls }, startedAtUs: 0, refresh: null } as unknown as RedirectStep;
}

const of = (...steps: RedirectStep[]) => hstsOf(steps, (host) => host === "preloaded.test").at(-1);

describe("a hop that browsers skip (RFC 6797)", () => {
  it("is on a host that sent HSTS over https, or on its subdomain if HSTS includes subdomains", () => {
    expect(of(step("https://a.test/", "max-age=60"), step("http://a.test/"))).toBe("learned");
    expect(of(step("https://a.test/", "max-age=60"), step("http://b.a.test/"))).toBeNull();
    expect(of(step("https://a.test/", "max-age=60; includeSubDomains"), step("http://c.b.a.test/"))).toBe("learned");
    expect(of(step("https://b.a.test/", "max-age=60; includeSubDomains"), step("http://a.test/"))).toBeNull();
  });

  it("does not exist if HSTS was sent over http, over a faulty connection, by an IP address, or is invalid", () => {
    expect(of(step("http://a.test/", "max-age=60"), step("http://a.test/"))).toBeNull();
    expect(of(step("https://a.test/", "max-age=60", false), step("http://a.test/"))).toBeNull();
    expect(of(step("https://192.0.2.1/", "max-age=60"), step("http://192.0.2.1/"))).toBeNull();
    expect(of(step("https://[2001:db8::1]/", "max-age=60"), step("http://[2001:db8::1]/"))).toBeNull();
    expect(of(step("https://a.test/", "includeSubDomains"), step("http://a.test/"))).toBeNull();
    expect(
      of(step("https://a.test/", "max-age=60"), step("https://a.test/", "max-age=0"), step("http://a.test/")),
    ).toBeNull();
  });

  it("is on a host of the preload list", () => {
    expect(of(step("http://preloaded.test/"))).toBe("preloaded");
    expect(of(step("https://preloaded.test/"))).toBeNull();
  });
});
