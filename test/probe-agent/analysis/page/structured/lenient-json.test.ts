import { describe, expect, it } from "vitest";
import { MAX_JSON_DEPTH, parseLenientJson } from "#probe-agent/analysis/page/structured/lenient-json.ts";

const read = (text: string) => parseLenientJson(text, 1_000_000);
const valueOf = (text: string): unknown => {
  const { faults: _faults, values: _values, ...rest } = read(text);
  return "value" in rest ? rest.value : "unreadable";
};
const faultsOf = (text: string) => read(text).faults.map(({ message, offset }) => [message, offset]);

describe("strict JSON", () => {
  const texts = [
    '{"a":[1,-2.5e3,0,true,false,null,"x"],"b":{}}',
    "[]",
    '"\\u00e9\\n\\"\\/\\\\\\b\\f\\r\\t"',
    " [ ] ",
    "-0.5",
    '{"":{"":[[[]]]}}',
    '"\\ud83d\\ude00"',
    '"\u007F\u0085"',
  ];
  it.each(texts)("gives the same value as JSON.parse: %s", (text) => {
    expect(valueOf(text)).toEqual(JSON.parse(text));
    expect(read(text).faults).toEqual([]);
  });

  const broken = [
    "",
    "{",
    "[1",
    '{"a"}',
    '{"a":}',
    "[1 2]",
    "01",
    "+1",
    ".5",
    "nul",
    "'a'",
    '"a',
    "{a:1}",
    "[1,,2]",
    "[,]",
    '"\\u12"',
    "1 2",
    "}",
  ];
  it.each(broken)("is unreadable if its value cannot be guessed: %s", (text) => {
    expect(valueOf(text)).toBe("unreadable");
    expect(read(text).faults.length).toBeGreaterThan(0);
  });
});

describe("a fault that is tolerated and reported with its position", () => {
  const rows: readonly (readonly [text: string, value: unknown, faults: readonly (readonly [string, number])[]])[] = [
    ["[1,2,]", [1, 2], [["a trailing comma", 5]]],
    ['{"a":1,}', { a: 1 }, [["a trailing comma", 7]]],
    ['["a\nb\tc"]', ["a\nb\tc"], [["a control character inside a string (2 times)", 3]]],
    ["// x\n[1]", [1], [["a comment (//)", 0]]],
    ["[1 /* , 2 */]", [1], [["a comment (/* */)", 3]]],
    ['{"a": "// no comment /* */ <!-- -->"}', { a: "// no comment /* */ <!-- -->" }, []],
    ["<!-- old --> [1]", [1], [["a comment (<!-- -->)", 0]]],
    ["[1 <!-- , 2 -->]", [1], [["a comment (<!-- -->)", 3]]],
    ["<!--\n[1]\n-->", [1], [["a comment (<!-- -->) around the data", 0]]],
    ["<!-- [1] --> [2]", [2], [["a comment (<!-- -->)", 0]]],
    ["<![CDATA[ [[1]]]]>", [[1]], [["a CDATA wrapper", 0]]],
    [
      "//<![CDATA[\n[1]\n//]]>",
      [1],
      [
        ["a CDATA wrapper", 2],
        ["a comment (//)", 16],
      ],
    ],
    [
      "//<![CDATA[ [1] //]]>",
      [1],
      [
        ["a CDATA wrapper", 2],
        ["a comment (//)", 16],
      ],
    ],
    ["/*<![CDATA[*/[1]/*]]>*/", [1], [["a comment (/* */) (2 times)", 0]]],
    ["[1];", [1], [["a semicolon after the data", 3]]],
    ["\uFEFF[1,\u00A02]", [1, 2], [["a space character that JSON does not allow (2 times)", 0]]],
    ['["it\\\'s"]', ["it's"], [["a backslash before a character that cannot be escaped", 4]]],
    ['{"a":1,"a":2}', { a: 2 }, [["a name that occurs twice in one object (the last value counts)", 7]]],
    ["[1e999]", ["1e999"], [["a number outside the range of 64-bit floating point", 1]]],
  ];
  it.each(rows)("%s", (text, value, faults) => {
    expect(valueOf(text)).toEqual(value);
    expect(faultsOf(text)).toEqual(faults);
  });
  it("has the position at which parsing ends", () => {
    expect(faultsOf('{"a":1 "b":2}')).toEqual([['expected a comma or }, found "\\""', 7]]);
    expect(faultsOf("[1] [2]")).toEqual([['expected the end of the block, found "["', 4]]);
    expect(faultsOf('["abc')).toEqual([["a string without a closing quote", 1]]);
  });
});

describe("hostile JSON", () => {
  it("cannot change a prototype", () => {
    const value = valueOf('{"__proto__":{"polluted":1},"constructor":2}') as object;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
  it("cannot exhaust the stack", () => {
    expect(valueOf(`${"[".repeat(MAX_JSON_DEPTH)}${"]".repeat(MAX_JSON_DEPTH)}`)).not.toBe("unreadable");
    for (const open of ["[", '{"a":', '[{"a":']) {
      expect(read(open.repeat(100_000)).faults.at(-1)?.message).toBe("nested deeper than 128 levels");
    }
  });
  it("is parsed in time that grows only with its length", () => {
    for (const piece of [
      "<!--",
      "/*",
      "//\n",
      "-->",
      "]]>",
      "<![CDATA[",
      "\u00A0",
      '"\\',
      "1,",
      "<!-- -->",
      "// <!--",
    ]) {
      expect(read(piece.repeat(1_000_000 / piece.length)).faults.length).toBeGreaterThan(0);
      expect(read(`[${piece.repeat(1_000_000 / piece.length)}`).ok).toBe(false);
    }
    const long = `"${"x\n".repeat(500_000)}"`;
    expect((valueOf(long) as string).length).toBe(1_000_000);
  });
  it("is limited in its number of values", () => {
    expect(parseLenientJson(`[${"[],".repeat(1000)}]`, 500)).toMatchObject({ ok: false, values: 501 });
  });
  it("gives text that can be stored", () => {
    expect(valueOf('"a\\u0000b\\ud800"')).toBe("a\uFFFDb\uFFFD");
  });
});
