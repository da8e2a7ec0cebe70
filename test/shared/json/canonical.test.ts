import { canonicalize } from "#test/entry-points.ts";
import { describe, expect, test } from "vitest";

describe("RFC 8785", () => {
  test("section 3.2.2: primitives are written as ECMAScript writes them", () => {
    const input = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    // Section 3.2.4, UTF-8 octets in hexadecimal.
    const expected =
      "7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e" +
      "756d62657273223a5b3333333333333333332e333333333333332c31652b3330" +
      "2c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac24" +
      "5c75303030665c6e4127425c225c5c5c5c5c222f227d";
    expect(Buffer.from(canonicalize(JSON.parse(input))).toString("hex")).toBe(expected);
  });

  test("section 3.2.3: names are sorted by UTF-16 code units, not by code points", () => {
    const input = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    const values = [...canonicalize(input).matchAll(/:"([^"]*)"/gu)].map(([, value]) => value);
    expect(values).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  // IEEE 754 double in hexadecimal, and its canonical form.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("appendix B: the double %s is %s", (bits, text) => {
    expect(canonicalize(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
  });

  test.each([
    ["NaN (7fffffffffffffff in appendix B)", Number.NaN],
    ["Infinity (7ff0000000000000 in appendix B)", Number.POSITIVE_INFINITY],
    ["minus infinity", Number.NEGATIVE_INFINITY],
    ["a BigInt", 1n],
    ["undefined", undefined],
    ["undefined in an object, which JSON.stringify leaves out", { a: undefined }],
    ["undefined in an array, which JSON.stringify makes null", [undefined]],
    ["a hole in an array", Array.from({ length: 1 }).concat(Array(2))],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    ["half a surrogate pair", "\ud83d"],
    ["half a surrogate pair in a name", { "\ude00": 1 }],
  ])("section 3.2.2: %s is refused", (_what, value) => {
    expect(() => canonicalize({ value })).toThrow(TypeError);
    expect(() => canonicalize([value])).toThrow(TypeError);
  });
});

test("a value that contains itself is refused, a value that appears twice is written twice", () => {
  const cycle: Record<string, unknown> = { a: [] };
  (cycle["a"] as unknown[]).push({ cycle });
  expect(() => canonicalize(cycle)).toThrow("contains itself");
  const twice = { b: 1 };
  expect(canonicalize([twice, twice, { twice }])).toBe('[{"b":1},{"b":1},{"twice":{"b":1}}]');
});

test("only own, enumerable properties with string names count, and toJSON is a property like any other", () => {
  const value = Object.create({ inherited: 1 }, { hidden: { value: 2 } }) as Record<string | symbol, unknown>;
  value["own"] = 3;
  value[Symbol("s")] = 4;
  expect(canonicalize(value)).toBe('{"own":3}');
  expect(canonicalize(JSON.parse('{"__proto__":1,"toJSON":2}'))).toBe('{"__proto__":1,"toJSON":2}');
  expect(canonicalize({ 10: "b", 9: "a" })).toBe('{"10":"b","9":"a"}');
});
