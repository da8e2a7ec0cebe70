import { describe, expect, it } from "vitest";
import {
  autnumServiceFor,
  domainServiceFor,
  readAutnumBootstrap,
  readDomainBootstrap,
} from "#probe-agent/analysis/registry/rdap/bootstrap.ts";

describe("the list of name registries (RFC 9224 section 4)", () => {
  const list = readDomainBootstrap({
    version: "1.0",
    services: [
      [["net", "com"], ["https://registry.example.com/myrdap/"]],
      [["org", "mytld"], ["https://example.org/"]],
      [["xn--zckzah"], ["https://example.net/rdap/xn--zckzah/", "http://example.net/rdap/xn--zckzah/"]],
      [["co.uk", "UK"], ["http://example.uk/rdap"]],
    ],
  });
  const serviceOf = (name: string) => domainServiceFor(list ?? new Map(), name);

  it("is searched by labels, and the longest match counts", () => {
    expect(serviceOf("a.b.example.com")).toBe("https://registry.example.com/myrdap/");
    expect(serviceOf("goodexample.mytld")).toBe("https://example.org/");
    expect(serviceOf("example.xn--zckzah")).toBe("https://example.net/rdap/xn--zckzah/");
    expect(serviceOf("example.co.uk")).toBe("http://example.uk/rdap/");
    expect(serviceOf("EXAMPLE.Uk")).toBe("http://example.uk/rdap/");
    expect([serviceOf("example.de"), serviceOf("examplecom"), serviceOf("notcom.x")]).toEqual([null, null, null]);
  });

  it("has no registry for a top-level domain except that of the root", () => {
    expect(serviceOf("com")).toBeNull();
    const root = readDomainBootstrap({ services: [[["", "com"], ["https://root.example/"]]] });
    expect(domainServiceFor(root ?? new Map(), "com")).toBe("https://root.example/");
    expect(domainServiceFor(root ?? new Map(), "example.de")).toBe("https://root.example/");
  });

  it("finds no names inherited from Object", () => {
    const odd = readDomainBootstrap({ services: [[["__proto__", "constructor"], ["https://x.example/"]]] });
    expect(domainServiceFor(odd ?? new Map(), "a.tostring")).toBeNull();
  });
});

describe("the list of AS number registries (section 5.3)", () => {
  const list = readAutnumBootstrap({
    version: "1.0",
    services: [
      [["64496-64496"], ["https://rir3.example.com/myrdap/"]],
      [["64497-64510", "65536-65551"], ["https://example.org/"]],
      [
        ["64512-65534", "7"],
        ["http://example.net/rdaprir2/", "https://example.net/rdaprir2/"],
      ],
      [["x", "1-2-3", "-5"], ["https://odd.example/"]],
    ],
  });
  const serviceOf = (asn: number) => autnumServiceFor(list ?? [], asn);

  it("is searched by ranges, both ends included", () => {
    expect(serviceOf(64_496)).toBe("https://rir3.example.com/myrdap/");
    expect([serviceOf(64_497), serviceOf(65_551)]).toEqual(["https://example.org/", "https://example.org/"]);
    expect([serviceOf(64_512), serviceOf(7)]).toEqual(Array(2).fill("https://example.net/rdaprir2/"));
    expect([serviceOf(64_511), serviceOf(65_535), serviceOf(1)]).toEqual([null, null, null]);
  });

  it.each([[null], [[]], [{}], [{ services: "x" }]])("is null for %j", (value) => {
    expect(readAutnumBootstrap(value)).toBeNull();
    expect(readDomainBootstrap(value)).toBeNull();
  });
});
