import { describe, expect, it } from "vitest";
import { chooseProxy } from "#probe-agent/exporter/http/route.ts";
import type { ProxyOptions } from "#shared/blackbox/module.ts";

const NONE: ProxyOptions = { proxy_url: null, no_proxy: "", proxy_from_environment: false, proxy_connect_header: {} };
const GIVEN: ProxyOptions = { ...NONE, proxy_url: "http://proxy.example:3128" };
const FROM_ENVIRONMENT: ProxyOptions = { ...NONE, proxy_from_environment: true };

function choose(url: string, options: ProxyOptions, environment: Readonly<Record<string, string>> = {}): string | null {
  return chooseProxy(new URL(url), options, environment)?.host ?? null;
}

describe("the proxy of a URL", () => {
  it("is none by default, also where the environment has one", () => {
    expect(choose("http://site.example", NONE, { HTTP_PROXY: "http://env.example" })).toBeNull();
    expect(choose("http://site.example", GIVEN)).toBe("proxy.example:3128");
  });

  it("is the environment's of the URL's scheme where the module wants that", () => {
    const environment = {
      HTTP_PROXY: "plain.example:1",
      https_proxy: "https://secure.example:2",
      NO_PROXY: "inner.example",
    };
    expect(choose("http://site.example", FROM_ENVIRONMENT, environment)).toBe("plain.example:1");
    expect(choose("https://site.example", FROM_ENVIRONMENT, environment)).toBe("secure.example:2");
    expect(choose("https://a.inner.example", FROM_ENVIRONMENT, environment)).toBeNull();
    expect(choose("http://localhost:8080", FROM_ENVIRONMENT, environment)).toBeNull();
    expect(choose("http://127.0.0.1", FROM_ENVIRONMENT, environment)).toBeNull();
    expect(choose("http://[::1]", FROM_ENVIRONMENT, environment)).toBeNull();
  });

  it.each([
    ["*", "http://any.example", true],
    ["site.example", "http://site.example", true],
    ["site.example", "http://a.site.example", true],
    ["site.example", "http://notsite.example", false],
    [".site.example", "http://a.site.example", true],
    [".site.example", "http://site.example", false],
    ["*.site.example", "http://a.site.example", true],
    ["site.example:8080", "http://site.example:8080", true],
    ["site.example:8080", "http://site.example", false],
    ["site.example:443", "https://site.example", true],
    ["10.0.0.0/8", "http://10.1.2.3", true],
    ["10.0.0.0/8", "http://11.1.2.3", false],
    ["10.0.0.0/8", "http://site.example", false],
    ["192.0.2.1", "http://192.0.2.1", true],
    ["[2001:db8::1]:80", "http://[2001:db8::1]", true],
    ["2001:db8::/32", "http://[2001:db8::1]", true],
    [" a.example , , B.EXAMPLE ", "http://b.example", true],
  ])("is not used with no_proxy %s for %s: %s", (exceptions, url, isDirect) => {
    expect(choose(url, { ...GIVEN, no_proxy: exceptions })).toBe(isDirect ? null : "proxy.example:3128");
  });
});
