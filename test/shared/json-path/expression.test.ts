import { describe, expect, it } from "vitest";
import { Effort } from "#shared/json-path/effort.ts";
import { matchesText } from "#shared/json-path/expression/match.ts";
import { seeded } from "#test/support/seeded.ts";

const matches = (expression: string, text: string) => matchesText(expression, text, "whole", new Effort(10_000_000));
const finds = (expression: string, text: string) => matchesText(expression, text, "part", new Effort(10_000_000));

describe("an expression", () => {
  it.each([
    ["", ""],
    ["abc", "abc"],
    ["a.c", "a😀c"],
    ["[a-c]+", "abcabc"],
    ["[^a-c]*", "xyz"],
    ["[-a]", "-"],
    ["[a-]", "-"],
    ["[\\]\\^-]", "^"],
    ["a{2}", "aa"],
    ["a{2,}", "aaaa"],
    ["a{0,2}b", "b"],
    ["(ab|cd)?e", "cde"],
    ["\\p{Lu}\\P{Lu}+", "Äbc1"],
    ["[\\p{L}\\p{Nd}]+", "añ9"],
    ["\\(\\.\\)", "(.)"],
    ["^$", "^$"],
    ["a\\nb", "a\nb"],
    ["(a|b|)", ""],
    ["((a*)*)*", "aaaa"],
  ])("%j matches %j", (expression, text) => {
    expect(matches(expression, text)).toBe(true);
  });

  it.each([
    ["a", "ab"],
    ["a", ""],
    ["a.c", "a\nc"],
    ["[^a]", "a"],
    ["a{2}", "aaa"],
    ["\\p{Lu}", "a"],
    ["(ab)+", "aba"],
  ])("%j does not match %j", (expression, text) => {
    expect(matches(expression, text)).toBe(false);
  });

  it.each([
    "(",
    ")",
    "[",
    "[]",
    "[b-a]",
    "a**",
    "a{2,1}",
    "a{,2}",
    "{1}",
    "*",
    "\\d",
    "\\p{Xx}",
    "\\p{Lua}",
    "[a-b-c]",
    "a\\",
  ])("%j is not valid, and matches nothing", (expression) => {
    expect([matches(expression, expression), finds(expression, expression)]).toEqual([false, false]);
  });

  it("is found anywhere in a text, or not at all", () => {
    expect(finds("b+", "aabba")).toBe(true);
    expect(finds("", "")).toBe(true);
    expect(finds("b{3}", "aabba")).toBe(false);
    expect(finds("a$", "a")).toBe(false);
  });

  it("that makes other engines step back for ever takes linear time", () => {
    const text = `${"a".repeat(50_000)}b`;
    expect(matches("(a+)+", text)).toBe(false);
    expect(matches("(a|a)*c", text)).toBe(false);
    expect(matches("(a?){200}a{200}b", `${"a".repeat(200)}b`)).toBe(true);
  });

  it("that is too large matches nothing", () => {
    expect(matches("(a{100}){100}", "a".repeat(10_000))).toBe(false);
    expect(matches("a".repeat(1_001), "a".repeat(1_001))).toBe(false);
  });

  it("agrees with the runtime's own expressions on random ones", () => {
    const octet = seeded(7);
    const pick = (from: readonly string[]) => from[octet() % from.length] ?? "";
    const atom = (depth: number): string =>
      depth > 2 || octet() < 150 ? pick(["a", "b", "c", ".", "[ab]", "[^a]", "\\p{L}"]) : `(${branch(depth + 1)})`;
    const piece = (depth: number) => atom(depth) + pick(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"]);
    const sequence = (depth: number) => Array.from({ length: octet() % 4 }, () => piece(depth)).join("");
    const branch = (depth: number): string =>
      octet() < 200 ? sequence(depth) : `${sequence(depth)}|${sequence(depth)}`;
    let positive = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const expression = branch(0);
      const text = Array.from({ length: octet() % 8 }, () => pick(["a", "b", "c", "\n", "1"])).join("");
      const dotted = expression.replaceAll(".", "[^\\n\\r]");
      const whole = new RegExp(`^(?:${dotted})$`, "u").test(text);
      positive += whole ? 1 : 0;
      expect(matches(expression, text), `${expression} on ${JSON.stringify(text)}`).toBe(whole);
      expect(finds(expression, text), `${expression} in ${JSON.stringify(text)}`).toBe(
        new RegExp(dotted, "u").test(text),
      );
    }
    expect(positive).toBeGreaterThan(200);
  });
});
