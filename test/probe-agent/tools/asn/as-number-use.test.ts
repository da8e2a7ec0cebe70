import { describe, expect, it } from "vitest";
import { asdot, asNumberUse } from "#probe-agent/tools/asn/as-number-use.ts";

describe("the use of an AS number", () => {
  it.each([
    [0, "reserved", "RFC 7607", "0"],
    [112, "as112", "RFC 7534", "112"],
    [23_456, "as_trans", "RFC 6793", "23456"],
    [64_496, "documentation", "RFC 5398", "64496"],
    [64_511, "documentation", "RFC 5398", "64511"],
    [64_512, "private", "RFC 6996", "64512"],
    [65_534, "private", "RFC 6996", "65534"],
    [65_535, "reserved", "RFC 7300", "65535"],
    [65_536, "documentation", "RFC 5398", "1.0"],
    [65_551, "documentation", "RFC 5398", "1.15"],
    [65_552, "reserved", "IANA", "1.16"],
    [4_200_000_000, "private", "RFC 6996", "64086.59904"],
    [4_294_967_294, "private", "RFC 6996", "65535.65534"],
    [4_294_967_295, "reserved", "RFC 7300", "65535.65535"],
  ])("%i is special: %s (%s), written %s", (asn, use, document, dotted) => {
    expect(asNumberUse(asn)).toEqual({ use, name: expect.stringContaining(document) as string });
    expect(asdot(asn)).toBe(dotted);
  });

  it.each([64_495, 131_072, 4_199_999_999])("%i, next to a special range, is public", (asn) => {
    expect(asNumberUse(asn)).toEqual({ use: "public", name: null });
  });
});
