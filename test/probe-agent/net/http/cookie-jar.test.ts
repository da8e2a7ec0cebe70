import { describe, expect, it } from "vitest";
import { createCookieJar } from "#probe-agent/net/http/cookie-jar.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

/** Returns the cookie pairs sent to `to` after `from` has set these lines. */
function sent(from: string, lines: readonly string[], to: string): string[] {
  const jar = createCookieJar();
  jar.keep(new URL(from), lines, NOW);
  return jar.cookiesFor(new URL(to)).map(({ pair }) => pair);
}

describe("the jar of a chain", () => {
  it.each([
    ["a=1", "https://www.shop.test/x", ["a=1"]],
    ["a=1", "https://shop.test/", []],
    ["a=1; Domain=shop.test", "https://shop.test/", ["a=1"]],
    ["a=1; Domain=other.test", "https://other.test/", []],
    ["a=1; Domain=test", "https://shop.test/", []],
    ["a=1; Path=/in", "https://www.shop.test/in/deep", ["a=1"]],
    ["a=1; Path=/in", "https://www.shop.test/inside", []],
    ["a=1; Secure", "http://www.shop.test/", []],
    ["a=1; Secure", "https://www.shop.test/", ["a=1"]],
    ["a=1; Max-Age=0", "https://www.shop.test/", []],
    ["__Host-a=1; Secure; Path=/; Domain=shop.test", "https://www.shop.test/", []],
    ["a=\u20ac", "https://www.shop.test/", ["a=\u00e2\u0082\u00ac"]],
    ["a=\ufffd", "https://www.shop.test/", []],
    ["a", "https://www.shop.test/", ["a"]],
  ])("with %s sends to %s: %j", (line, to, expected) => {
    expect(sent("https://www.shop.test/", [line], to)).toEqual(expected);
  });

  it("replaces and deletes by name, domain and path, and sends longer paths first", () => {
    const lines = ["a=1; Path=/", "b=2; Path=/", "a=3; Path=/", "c=4; Path=/x", "b=; Path=/; Max-Age=-1"];
    expect(sent("https://a.test/", lines, "https://a.test/x")).toEqual(["c=4", "a=3"]);
  });

  it("is bounded", () => {
    const many = Array.from({ length: 1000 }, (_, n) => `c${n}=${"v".repeat(1000)}`);
    expect(sent("https://a.test/", many, "https://a.test/").length).toBe(8);
    const small = Array.from({ length: 1000 }, (_, n) => `c${n}=1`);
    expect(sent("https://a.test/", small, "https://a.test/").length).toBe(100);
  });
});
