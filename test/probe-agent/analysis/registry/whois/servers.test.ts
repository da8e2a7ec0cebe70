import { describe, expect, it } from "vitest";
import { queryFor, readReferral, serverText } from "#probe-agent/analysis/registry/whois/servers.ts";
import { domainSubject } from "#probe-agent/tools/whois/subject.ts";

describe("a referral", () => {
  it.each([
    ["whois.example.net", { host: "whois.example.net", port: 43 }],
    ["WHOIS.Example.NET.", { host: "whois.example.net", port: 43 }],
    ["whois.example.net:4343", { host: "whois.example.net", port: 4343 }],
    ["whois://whois.example.net", { host: "whois.example.net", port: 43 }],
    ["rwhois://rwhois.example.net:4321/", { host: "rwhois.example.net", port: 4321 }],
    ["rwhois://rwhois.example.net", { host: "rwhois.example.net", port: 4321 }],
    ["[2001:db8::1]:4343", { host: "2001:db8::1", port: 4343 }],
    ["192.0.2.1", { host: "192.0.2.1", port: 43 }],
  ])("%j is read as a server", (text, server) => {
    expect(readReferral(text)).toEqual(server);
  });

  it.each([
    "",
    "-",
    "localhost",
    "whois",
    "http://api.example.net/cgi/whois",
    "https://whois.example.net",
    "a b.example",
    "whois.example.net:25",
    "whois.example.net:6667",
    "whois.example.net:70000",
    "whois.example.net:0",
    "whois.example.net/x",
    "user@whois.example.net",
    "a.example\r\nQUIT",
    `${"a.".repeat(5000)}b`,
    "whois..x:",
  ])("%j leads nowhere", (text) => {
    expect(readReferral(text)).toBeNull();
  });

  it("is shown with its port if that is not 43", () => {
    expect(serverText({ host: "whois.example.net", port: 43 })).toBe("whois.example.net");
    expect(serverText({ host: "2001:db8::1", port: 4343 })).toBe("[2001:db8::1]:4343");
  });
});

describe("a query", () => {
  it.each([
    ["whois.verisign-grs.com", "domain example.com"],
    ["whois.denic.de", "-T dn,ace example.com"],
    ["whois.jprs.jp", "example.com/e"],
    ["whois.nic.example", "example.com"],
  ])("to %s has the form that the registry requires", (host, query) => {
    expect(queryFor({ host, port: 43 }, { kind: "domain", name: "example.com" })).toBe(query);
  });

  it("about numbers states their kind to ARIN", () => {
    const [arin, ripe] = ["whois.arin.net", "whois.ripe.net"].map((host) => ({ host, port: 43 }));
    if (arin === undefined || ripe === undefined) throw new Error("no servers");
    expect(queryFor(arin, { kind: "ip", ip: "192.0.2.1" })).toBe("n + 192.0.2.1");
    expect(queryFor(arin, { kind: "autnum", asn: 64_496 })).toBe("a + 64496");
    expect(queryFor(ripe, { kind: "ip", ip: "2001:db8::1" })).toBe("2001:db8::1");
    expect(queryFor(ripe, { kind: "autnum", asn: 64_496 })).toBe("AS64496");
  });
});

describe("the registration of a name", () => {
  it.each([
    ["www.example.com", { name: "example.com", suffix: "com", privateSuffix: null, server: null }],
    ["example.co.jp", { name: "example.co.jp", suffix: "co.jp", privateSuffix: null }],
    ["com", { name: "com", suffix: null }],
    ["co.jp", { name: "co.jp", suffix: null }],
    ["project.github.io", { name: "github.io", suffix: "io", privateSuffix: "github.io", server: null }],
    ["github.io", { name: "github.io", suffix: "io", privateSuffix: "github.io" }],
    [
      "www.example.uk.com",
      { name: "example.uk.com", suffix: "uk.com", privateSuffix: null, server: "whois.centralnic.com" },
    ],
    ["uk.com", { name: "uk.com", suffix: "com", server: null }],
    ["a.b.unheard-of", { name: "b.unheard-of", suffix: "unheard-of" }],
    ["xn--bcher-kva.example", { name: "xn--bcher-kva.example", unicode: "bücher.example" }],
  ])("%s is that of its registered domain", (name, expected) => {
    expect(domainSubject(name)).toMatchObject(expected);
  });
});
