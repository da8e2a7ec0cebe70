import { describe, expect, it } from "vitest";
import { daysFromNow, issue } from "#test/servers/pki.ts";
import { der } from "#test/servers/der.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { ipOctets } from "#probe-agent/analysis/tls/certificate/hostname.ts";

async function match(names: { dns?: string[]; ip?: string[]; subject?: string }, hosts: string[]): Promise<boolean[]> {
  const own = await issue(names);
  const judge = (host: string): boolean =>
    verifyChain({ leaf: own.pem, intermediates: [], roots: [own.pem], host, now: daysFromNow(0) }).hostname_match;
  return hosts.map(judge);
}

describe("a DNS name", () => {
  it("matches regardless of letter case and a final dot", async () => {
    const hosts = ["www.example.com", "WWW.Example.COM", "www.example.com.", "example.com", "a.www.example.com"];
    expect(await match({ dns: ["www.EXAMPLE.com"] }, hosts)).toEqual([true, true, true, false, false]);
  });

  it("matches a wildcard for exactly one complete left-most label", async () => {
    const hosts = ["a.example.com", "xn--bcher-kva.example.com", "example.com", "a.b.example.com", ".example.com"];
    expect(await match({ dns: ["*.example.com"] }, hosts)).toEqual([true, true, false, false, false]);
  });

  it("does not match wildcards within a label, elsewhere, twice, alone or directly below a top-level domain", async () => {
    const dns = ["w*.example.com", "a.*.example.com", "*.*.example.com", "*", "*.com", "*a.example.org"];
    const hosts = [
      "www.example.com",
      "a.b.example.com",
      "b.c.example.com",
      "example.com",
      "a.example.org",
      "localhost",
    ];
    expect(await match({ dns }, hosts)).toEqual(hosts.map(() => false));
  });

  it("is not a pattern itself", async () => {
    expect(await match({ dns: ["*.example.com"] }, ["*.example.com"])).toEqual([false]);
  });

  it("in Unicode is compared as A-labels", async () => {
    expect(await match({ dns: ["xn--bcher-kva.example"] }, ["bücher.example", "BÜCHER.example"])).toEqual([true, true]);
  });

  it("never matches the common name", async () => {
    expect(await match({ subject: "www.example.com" }, ["www.example.com"])).toEqual([false]);
    expect(await match({ subject: "CN=www.example.com", dns: ["x.example"] }, ["www.example.com"])).toEqual([false]);
  });

  it("does not match past a zero octet", async () => {
    const names = der(0x30, der(0x82, Buffer.from("www.example.com\u0000.evil.example")));
    const own = await issue({ subject: "x", extra: [{ oid: "2.5.29.17", value: names }] });
    const request = { leaf: own.pem, intermediates: [], roots: [own.pem], now: daysFromNow(0) };
    expect(verifyChain({ ...request, host: "www.example.com" }).hostname_match).toBe(false);
  });
});

describe("an IP literal", () => {
  it("matches iPAddress entries by value", async () => {
    const names = { ip: ["192.0.2.7", "2001:db8::1"] };
    const hosts = ["192.0.2.7", "2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "[2001:db8::1]", "192.0.2.8", "::1"];
    expect(await match(names, hosts)).toEqual([true, true, true, true, false, false]);
  });

  it("does not match a dNSName or wildcard of the same text", async () => {
    expect(await match({ dns: ["192.0.2.7", "*.0.2.7"] }, ["192.0.2.7"])).toEqual([false]);
  });

  it("is parsed in every form of IPv6", () => {
    const hex = (host: string): string => Buffer.from(ipOctets(host) ?? []).toString("hex");
    expect(hex("::")).toBe("0".repeat(32));
    expect(hex("::ffff:192.0.2.1")).toBe("00000000000000000000ffffc0000201");
    expect(hex("1:2:3:4:5:6:7:8")).toBe("00010002000300040005000600070008");
    expect(hex("fe80::1%eth0")).toBe("");
    expect(hex("example.com")).toBe("");
  });
});
