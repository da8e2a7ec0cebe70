import { describe, expect, it } from "vitest";
import { createOriginCheck, type OriginSettings } from "#control-plane/http/connection/own-origin.ts";

const PROXY = "10.0.0.1";
const SET = { isBaseUrlSet: true, tls: null, trustedProxies: ["10.0.0.0/8"] };
const LISTENER = { ...SET, baseUrl: "http://localhost:8080", isBaseUrlSet: false };
const TLS = { ...LISTENER, baseUrl: "https://localhost:8443", tls: {} };
const NAMED = { ...SET, baseUrl: "https://vantage.example/x" };
const LOOPBACK = { ...SET, baseUrl: "http://127.0.0.1:8080" };

/** The refusal of a request to a host with this Origin, through a peer that may name a scheme. */
function ask(
  settings: OriginSettings,
  [origin, host]: readonly [origin: string | undefined, host: string | undefined],
  { peer = "198.51.100.1", proto }: { readonly peer?: string; readonly proto?: string } = {},
) {
  const headers = {
    ...(origin === undefined ? {} : { origin }),
    ...(host === undefined ? {} : { host }),
    ...(proto === undefined ? {} : { "x-forwarded-proto": proto }),
  };
  return createOriginCheck(settings)({ headers, socket: { remoteAddress: peer } });
}

describe("a page of this service", () => {
  it.each([
    ["of the setting", NAMED, ["https://vantage.example", "127.0.0.1:8080"], {}],
    ["of loopback, where the setting is loopback", LOOPBACK, ["http://localhost:8080", "localhost:8080"], {}],
    ["of loopback in IPv6, where the setting is loopback", LOOPBACK, ["http://[::1]:9", "[::1]:9"], {}],
    ["of the listener", LISTENER, ["http://localhost:8080", "elsewhere.example"], {}],
    ["of localhost at another port", LISTENER, ["http://localhost:9000", "localhost:9000"], {}],
    ["of an IPv4 address", LISTENER, ["http://192.0.2.7:8080", "192.0.2.7:8080"], {}],
    ["of an IPv6 address", LISTENER, ["http://[2001:db8::7]:8080", "[2001:DB8:0::7]:8080"], {}],
    ["of a default port", LISTENER, ["http://192.0.2.7", "192.0.2.7:80"], {}],
    ["of a TLS listener", TLS, ["https://192.0.2.7:8443", "192.0.2.7:8443"], {}],
    ["behind a proxy with TLS", LISTENER, ["https://192.0.2.7", "192.0.2.7"], { peer: PROXY, proto: "https" }],
    [
      "behind the last of two proxies",
      LISTENER,
      ["https://192.0.2.7", "192.0.2.7"],
      { peer: PROXY, proto: "http, HTTPS" },
    ],
    ["behind a proxy without TLS", TLS, ["http://192.0.2.7", "192.0.2.7"], { peer: `::ffff:${PROXY}`, proto: "http" }],
    ["behind a proxy that names no scheme", LISTENER, ["http://192.0.2.7", "192.0.2.7"], { peer: PROXY, proto: "ws" }],
  ] as const)("is one %s", (_what, settings, from, peer) => expect(ask(settings, from, peer)).toBeUndefined());

  it.each([
    ["without an origin", LISTENER, [undefined, "192.0.2.7:8080"], {}],
    ["without a host", LISTENER, ["http://192.0.2.7:8080", undefined], {}],
    ["of no origin", LISTENER, ["null", "null"], {}],
    ["of a name that leads here", LISTENER, ["http://evil.example:8080", "evil.example:8080"], {}],
    ["of a name below localhost", LISTENER, ["http://evil.localhost:8080", "evil.localhost:8080"], {}],
    ["of a name like an address", LISTENER, ["http://192.0.2.7.evil.example", "192.0.2.7.evil.example"], {}],
    ["of another address", LISTENER, ["http://192.0.2.8:8080", "192.0.2.7:8080"], {}],
    ["of another port", LISTENER, ["http://192.0.2.7:8081", "192.0.2.7:8080"], {}],
    ["of another scheme", LISTENER, ["https://192.0.2.7:8080", "192.0.2.7:8080"], {}],
    ["of http at a TLS listener", TLS, ["http://192.0.2.7:8443", "192.0.2.7:8443"], {}],
    ["of a scheme that a stranger names", LISTENER, ["https://192.0.2.7", "192.0.2.7"], { proto: "https" }],
    [
      "of a scheme that no proxy wrote",
      LISTENER,
      ["https://192.0.2.7", "192.0.2.7"],
      { peer: PROXY, proto: "https, http" },
    ],
    ["of an address, where a name is set", NAMED, ["http://192.0.2.7:8080", "192.0.2.7:8080"], {}],
    ["of loopback, where a name is set", NAMED, ["http://localhost:8080", "localhost:8080"], {}],
    ["of an address, where loopback is set", LOOPBACK, ["http://192.0.2.7:8080", "192.0.2.7:8080"], {}],
  ] as const)("is none %s, and the setting is named", (_what, settings, from, peer) => {
    const refusal = ask(settings, from, peer);
    expect(refusal?.code).toBe("insufficient_scope");
    expect(refusal?.details.message).toBe(
      `Only pages of ${new URL(settings.baseUrl).origin} may send this. If you opened this service at another address, set VANTAGE_BASE_URL to it.`,
    );
  });
});
