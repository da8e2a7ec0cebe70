import { describe, expect, it } from "vitest";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

describe("Link (RFC 8288 section 3.5)", () => {
  it.each([
    [
      '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
      [["http://example.com/TheBook/chapter2", ["previous"]]],
    ],
    ['</>; rel="http://example.net/foo"', [["/", ["http://example.net/foo"]]]],
    ['</terms>; rel="copyright"; anchor="#foo"', [["/terms", ["copyright"]]]],
    [
      "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
      [
        ["/TheBook/chapter2", ["previous"]],
        ["/TheBook/chapter4", ["next"]],
      ],
    ],
    [
      '<http://example.org/>; rel="start http://example.net/relation/other"',
      [["http://example.org/", ["start", "http://example.net/relation/other"]]],
    ],
    [
      '<https://example.org/>; rel="start", <https://example.org/index>; rel="index"',
      [
        ["https://example.org/", ["start"]],
        ["https://example.org/index", ["index"]],
      ],
    ],
  ])("%s", (value, expected) => {
    expect(parseLinkHeader([value]).map(({ target, rel }) => [target, rel])).toEqual(expected);
  });

  it("keeps the anchor and the first parameter of each name", () => {
    const [link] = parseLinkHeader(['<a>; REL=x; rel=y; anchor="#foo"; title="a \\"b\\", c"; crossorigin']);
    expect(link?.rel).toEqual(["x"]);
    expect(link?.anchor).toBe("#foo");
    expect([link?.parameters.get("title"), link?.parameters.get("crossorigin")]).toEqual(['a "b", c', null]);
  });

  it("reads several fields as one list and skips what is not a link", () => {
    expect(
      parseLinkHeader(["junk, <a>; rel=x,,", "<b,c>;;rel=y; z=, <d"]).map(({ target, rel }) => [target, rel]),
    ).toEqual([
      ["a", ["x"]],
      ["b,c", ["y"]],
    ]);
  });

  it("reads any text in linear time and within bounds", () => {
    const startedAt = cpuTime();
    for (const value of [
      "<a>,".repeat(50_000),
      "<".repeat(200_000),
      `<a>; x="\\"`.repeat(50_000),
      "<a>" + ";".repeat(300_000),
    ]) {
      expect(parseLinkHeader([value]).length).toBeLessThanOrEqual(200);
    }
    expect(cpuTime() - startedAt).toBeLessThan(2000);
  });
});
