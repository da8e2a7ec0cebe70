import { describe, expect, it } from "vitest";
import { asName, originName, readAs, readOrigin } from "#probe-agent/analysis/registry/cymru.ts";

const zones = { origin: "origin.asn.cymru.com", origin6: "origin6.asn.cymru.com.", asn: "asn.cymru.com" };

describe("names to query", () => {
  it("are reversed octets and nibbles below the zones", () => {
    expect(originName("216.90.108.31", zones)).toBe("31.108.90.216.origin.asn.cymru.com");
    expect(originName("2001:4860:b002::68", zones)).toBe(
      "8.6.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.2.0.0.b.0.6.8.4.1.0.0.2.origin6.asn.cymru.com",
    );
    expect(asName(23_028, zones)).toBe("AS23028.asn.cymru.com");
    expect(originName("127.1", zones)).toBeNull();
  });
});

describe("origins", () => {
  it("are the most specific prefix that contains the address", () => {
    const texts = ["3356 | 8.0.0.0/12 | US | arin | 1992-12-01", "15169 | 8.8.8.0/24 | US | arin | 2023-12-28"];
    expect(readOrigin(texts, "8.8.8.8")).toEqual({
      asns: [15_169],
      prefix: "8.8.8.0/24",
      country: "US",
      registry: "arin",
      allocated: "2023-12-28",
    });
    expect(readOrigin(texts, "8.1.1.1")?.asns).toEqual([3356]);
  });

  it("contain every system that announces the prefix", () => {
    expect(readOrigin(["23028 23029  1 | 216.90.108.0/24 | US | arin | 1998-09-25"], "216.90.108.31")).toMatchObject({
      asns: [23_028, 23_029, 1],
    });
  });

  it("are null for fields that the registry leaves out", () => {
    expect(readOrigin(["64500 | 2001:db8::/32 | | | "], "2001:db8::1")).toEqual({
      asns: [64_500],
      prefix: "2001:db8::/32",
      country: null,
      registry: null,
      allocated: null,
    });
  });

  it.each([
    "",
    "|||||",
    "NA | 8.8.8.0/24 | US | arin | 2000-01-01",
    "0 | 8.8.8.0/24 | US | arin | 2000-01-01",
    "4294967296 | 8.8.8.0/24 | US | arin | 2000-01-01",
    "15169 | 9.9.9.0/24 | US | arin | 2000-01-01",
    "15169 | 8.8.8.0/64 | US | arin | 2000-01-01",
    "15169 8.8.8.0/24 US arin",
    "x".repeat(100_000),
  ])("are not read from %j", (text) => {
    expect(readOrigin([text], "8.8.8.8")).toBeNull();
  });
});

describe("autonomous systems", () => {
  it.each([
    ["TEAM-CYMRU - Team Cymru Inc., US", "TEAM-CYMRU", "Team Cymru Inc."],
    ["DTAG Deutsche Telekom AG, DE", "DTAG", "Deutsche Telekom AG"],
    ["GOOGLE, US", "GOOGLE", null],
    ["A | B, US", "A", "| B"],
    ["", null, null],
  ])("described as %j are split into name and holder", (description, name, holder) => {
    const text = `23028 | US | arin | 2002-01-04 | ${description}`;
    expect(readAs([text], 23_028)).toMatchObject({ asn: 23_028, country: "US", registry: "arin", name, holder });
  });

  it("are found among others, and are null if absent", () => {
    expect(readAs(["1 | US | arin | 2002-01-04 | ONE, US"], 2)).toBeNull();
    expect(readAs([], 2)).toBeNull();
  });

  it("lose control characters and overlong text", () => {
    const read = readAs([`7 | US | arin | 2002-01-04 | NAME ${"\u0007x".repeat(10_000)}`], 7);
    expect(read?.holder?.length).toBeLessThan(1000);
    expect(read?.holder).not.toMatch(/\p{Cc}/u);
  });
});
