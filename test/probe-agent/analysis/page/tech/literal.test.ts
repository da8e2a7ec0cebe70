import { describe, expect, it } from "vitest";
import { LiteralIndex } from "#probe-agent/analysis/page/tech/literal-index.ts";
import { requiredLiterals } from "#probe-agent/analysis/page/tech/pattern.ts";
import { builtInRules } from "#test/support/tech-corpus.ts";

describe("the texts that an expression requires", () => {
  it.each([
    [String.raw`static\.hotjar\.com/c/`, ["static.hotjar.com/c/"]],
    [String.raw`\bNREUM\b\s?\|\|`, ["nreum"]],
    [String.raw`made(?:by|for)hand`, ["made"]],
    [String.raw`abc?defg+h`, ["defg"]],
    [String.raw`one{0,4}more`, ["more"]],
    [String.raw`alpha|b[et]+ta\.js`, ["alpha", "ta.js"]],
    [String.raw`alpha|\d+`, null],
    [String.raw`(?:jquery|zepto)`, null],
    ["Ünder", ["nder"]],
    [".*", null],
  ])("of %s", (source, literals) => {
    expect(requiredLiterals(source)).toEqual(literals);
  });

  it("never hides a match: no expression of the built-in rules matches a text without them", () => {
    const samples = ["", " ", "a", "1", "/", "x.js", "generator", "https://www.example.test/a.js?ver=1.2.3"];
    const patterns = builtInRules().rules.flatMap(({ tests }) => tests.map(({ pattern }) => pattern));
    expect(patterns.filter(({ literals }) => literals !== null).length).toBeGreaterThan(300);
    for (const { regex, literals } of patterns) {
      if (regex === null || literals === null) continue;
      for (const text of samples) {
        if (regex.test(text))
          expect(
            literals.some((one) => text.toLowerCase().includes(one)),
            regex.source,
          ).toBe(true);
      }
    }
  });
});

describe("the search for many texts at the same time", () => {
  const texts = ["static.hotjar.com/c/", "hotjar", "jar.co", "he", "she", "hers", "_gaq.push(", "jquery"];
  const index = new LiteralIndex(texts);

  it.each([
    "",
    "ushers",
    "STATIC.HotJar.com/c/x",
    "a hotjarring jar.com",
    "éhérs _gaq.push([])",
    "static.hotjar",
    "jqueryjquery",
  ])("finds the texts in %s", (text) => {
    const found = index.search([text]);
    const there = texts.filter((one) => text.toLowerCase().includes(one.slice(0, 16)));
    expect(texts.filter(found)).toEqual(there);
  });

  it("includes only the texts that it has room for", () => {
    const many = Array.from({ length: 5000 }, (_, n) => `${n}`.padStart(8, "x").padEnd(16, `${n}`));
    const full = new LiteralIndex(many);
    const known = many.filter((one) => full.includes(one));
    expect(known.length).toBeGreaterThan(500);
    expect(known.length).toBeLessThan(many.length);
    expect(full.includes("nothing")).toBe(false);
    const found = full.search([known.join(" ")]);
    expect(known.filter((one) => !found(one))).toEqual([]);
  });
});
