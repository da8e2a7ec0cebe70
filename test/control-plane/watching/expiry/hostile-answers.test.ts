import { describe, expect, it } from "vitest";
import { readCertificate } from "#control-plane/watching/expiry/observed/certificate.ts";
import { readRegistration, readService } from "#control-plane/watching/expiry/observed/registration.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { judgeLook, type TargetBefore } from "#control-plane/watching/expiry/sweep/judge.ts";
import { registration, handshakeResult } from "#test/control-plane/watching/expiry/world.ts";

const GOOD = { digit: "a", notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2026-04-01T00:00:00Z") };
const good = handshakeResult(GOOD);

describe("a certificate from an agent", () => {
  it.each([
    ["nothing", null],
    ["a text", "certificate"],
    ["no certificate", { trusted: true }],
    ["no fingerprint", { certificate: { ...good.certificate, fingerprint_sha256: "xyz" } }],
    ["a fingerprint of other characters", { certificate: { ...good.certificate, fingerprint_sha256: "g".repeat(64) } }],
    ["a nonsense date", { certificate: { ...good.certificate, not_after: "tomorrow" } }],
    ["a date of another age", { certificate: { ...good.certificate, not_after: "+099999-01-01T00:00:00Z" } }],
  ])("that is %s is none", (_what, result) => {
    expect(readCertificate(result)).toBeNull();
  });

  it("has bounded names without control characters", () => {
    const issuer = `CN=\u0000\u0007\r\n${"x".repeat(100_000)}`;
    const facts = readCertificate({ ...good, certificate: { ...good.certificate, issuer, san: [1, null, "a"] } });
    expect(facts?.issuer).toMatch(/^CN=x+$/);
    expect(facts?.issuer.length).toBeLessThanOrEqual(500);
    expect(JSON.stringify(facts).length).toBeLessThan(3_000);
  });

  it("has at most ten certificates above it, with bounded names", () => {
    const row = { ...good.certificate, sent: true, role: "intermediate", subject: `\u0007${"x".repeat(100_000)}` };
    const facts = readCertificate({ ...good, chain: [null, 5, ...Array.from({ length: 1_000 }, () => row)] });
    expect(facts?.above?.length).toBe(8);
    expect(JSON.stringify(facts).length).toBeLessThan(6_000);
    const broken = [
      { ...row, role: "boss" },
      { ...row, sent: false },
      { ...row, not_after: "tomorrow" },
    ];
    expect(readCertificate({ ...good, chain: broken })?.above).toEqual([]);
  });
});

describe("a registration from a registry", () => {
  it.each(["0000-00-00", "9999-12-31T00:00:00Z", "1899-12-30T00:00:00Z", "soon", "", 5, null])(
    "with the expiry %j has none",
    (expires) => {
      expect(readRegistration(registration({ expires }))?.expires).toBeNull();
    },
  );

  it("that ends before it began has no expiry", () => {
    const facts = readRegistration(registration({ created: "2024-01-01T00:00:00Z", expires: "2023-01-01T00:00:00Z" }));
    expect(facts?.expires).toBeNull();
  });

  it("has bounded texts and lists", () => {
    const status = Array.from({ length: 5_000 }, () => "x".repeat(5_000));
    const facts = readRegistration(registration({ status, registrar: { name: "\u001b[31m".repeat(10_000) } }));
    expect(facts?.status.length).toBe(20);
    expect(JSON.stringify(facts).length).toBeLessThan(3_000);
    expect(facts?.registrar).not.toContain("\u001b");
  });

  it.each<[rdap: unknown, whois: unknown, service: string | null]>([
    ["https://RDAP.registry.example/v1/", "whois.registry.example", "rdap.registry.example"],
    ["http://192.0.2.1:8080/rdap/", null, "192.0.2.1:8080"],
    [null, "Whois.Registry.Example:4343", "whois.registry.example:4343"],
    ["not a url", "whois.registry.example", "whois.registry.example"],
    [null, null, null],
    [null, "two words", null],
    [null, "x".repeat(5_000), null],
    [`https://${"x".repeat(5_000)}/`, { host: "x" }, null],
    ["javascript:alert(1)", "'; drop table x", null],
  ])("from %j or %j has the service %j", (rdap, whois, service) => {
    expect(readService({ ...registration(), rdap_server: rdap, whois_server: whois })).toBe(service);
  });

  it("of something else is none", () => {
    expect(readRegistration({ ...registration(), kind: "ip" })).toBeNull();
    expect(readRegistration([])).toBeNull();
  });
});

describe("the next look", () => {
  const before: TargetBefore = {
    kind: "domain",
    target: "a.example",
    lookAt: 0,
    failures: 0,
    error: null,
    errorMessage: null,
    failedSince: null,
    doubtedAt: null,
    lookedAt: null,
    changedAt: null,
    certificate: null,
    registration: null,
  };
  const failure = {
    kind: "failed",
    reason: "timeout",
    message: "no answer",
    isRefused: true,
    isUnasked: false,
  } as const;
  const after = (kind: "certificate" | "domain", failures: number, isLimited: boolean, luck = 0) =>
    judgeLook({ ...before, kind, failures }, { ...failure, isLimited }, luck, 0).lookAt / 60_000;

  it("at a host that does not answer is after 5 minutes to an hour", () => {
    expect([0, 1, 2, 3, 4, 50].map((failures) => after("certificate", failures, false))).toEqual([
      5, 10, 20, 40, 60, 60,
    ]);
  });

  it("at a registry that does not answer is after an hour to a day, later if it limits questions", () => {
    expect([0, 1, 4, 5, 1_000].map((failures) => after("domain", failures, false))).toEqual([
      60, 120, 960, 1_440, 1_440,
    ]);
    expect(after("domain", 0, true)).toBe(360);
    expect(after("domain", 0, false, 1)).toBe(72);
  });

  it("that no probe could make is after 10 seconds to 5 minutes, and counts as no failure", () => {
    const unasked = { ...failure, isRefused: false, isUnasked: true, isLimited: false };
    const first = judgeLook({ ...before, failures: 3 }, unasked, 0, 1_000_000);
    expect(first).toMatchObject({ failures: 3, error: "timeout", failedSince: 1_000_000, lookAt: 1_010_000 });
    const then = (now: number) =>
      judgeLook({ ...first, kind: "domain", target: "a.example" }, unasked, 0, now).lookAt - now;
    expect([1_010_000, 1_040_000, 1_100_000, 90_000_000].map(then)).toEqual([10_000, 40_000, 100_000, 300_000]);
  });
});

describe("the targets of a monitor", () => {
  const of = (checkType: "http" | "ssl" | "domain" | "dns", url: string, port: number | null = null) =>
    kindOf(checkType)
      .expires(url, { port, watch_domain: true }, null)
      .map(({ kind, target }) => `${kind} ${target}`);

  it("are the certificate of an https URL and the registered domain of its host", () => {
    expect(of("http", "https://WWW.Shop.Example.co.uk:8443/a?b")).toEqual([
      "certificate www.shop.example.co.uk:8443",
      "domain example.co.uk",
    ]);
    expect(of("http", "shop.example")).toEqual(["certificate shop.example:443", "domain shop.example"]);
    expect(of("http", "http://shop.example/")).toEqual(["domain shop.example"]);
    expect(of("http", "https://[2001:DB8::1]/")).toEqual(["certificate [2001:db8::1]:443"]);
    expect(of("http", "https://m\u00fcnchen.example/")).toEqual([
      "certificate xn--mnchen-3ya.example:443",
      "domain xn--mnchen-3ya.example",
    ]);
    expect(of("ssl", "mail.example", 465)).toEqual(["certificate mail.example:465"]);
    expect(of("domain", "www.shop.example.")).toEqual(["domain shop.example"]);
    expect(of("domain", "co.uk")).toEqual([]);
    expect(of("dns", "shop.example")).toEqual([]);
    expect(of("http", "https://192.0.2.1/")).toEqual(["certificate 192.0.2.1:443"]);
  });
});
