import { describe, expect, it } from "vitest";
import { compareNumbers, isRawNumber, parseExact, toExactNumber, type ExactNumber } from "#shared/json/exact.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { parseJsonPath } from "#shared/json-path/parse.ts";
import { selectJson } from "#shared/json-path/select.ts";

const ID = "50000000014435121";

function read(text: string): ExactNumber {
  const number = toExactNumber(text);
  if (number === null) throw new Error(`${text} is no number`);
  return number;
}

describe("a number of JSON", () => {
  it.each(["0", "-0", "1.50", "1e3", "0.30000000000000004", "9007199254740992", "1e22", "-1.7976931348623157e308"])(
    "is a JavaScript number if that has its value: %s",
    (text) => expect(read(text)).toBe(Number(text)),
  );

  it.each([ID, "-9007199254740993", "0.1234567890123456789", "1e400", "1e-400", "12345678901234567.5"])(
    "keeps its digits if none has: %s",
    (text) => {
      const number = read(text);
      expect(isRawNumber(number)).toBe(true);
      expect(isRecord(number)).toBe(false);
      expect(JSON.stringify({ number })).toBe(`{"number":${text}}`);
    },
  );

  it.each(["", " 1", "01", "+1", "1.", ".5", "0x10", "NaN", "1e", "1_000"])("is not %j", (text) => {
    expect(toExactNumber(text)).toBeNull();
  });

  it("compares as a decimal", () => {
    const texts =
      `-1e400 -${ID} -50000000014435120 -1 0 1e-400 0.1 0.1000000000000000000001 0.2 9 10 50000000014435120 ${ID} ` +
      `${ID}.1 50000000014435122 1e17 1e400 1.1e400`;
    const ascending = texts.split(" ").map(read);
    for (const [index, one] of ascending.entries()) {
      const orders = ascending.map((other) => Math.sign(compareNumbers(one, other)));
      expect(orders).toEqual(ascending.map((_, at) => Math.sign(index - at)));
    }
    expect(compareNumbers(read(ID), read("5.0000000014435121e16"))).toBe(0);
    expect(compareNumbers(read(`${ID}.000`), read(ID))).toBe(0);
  });
});

describe("JSON with long numbers", () => {
  it.each([
    ID,
    `[1,{"xA":[[],5,"1234567890123456789,",${ID}]},{"__proto__":12345678901234567890}]`,
    `{"a":"\\"b\\":${ID},","b":{"c,":[{},[${ID},${ID}],{"d":0.1234567890123456789}]},"e":{}}`,
    `{"12":0.1234567890123456789,"a":${ID}}`,
  ])("is written as it was read: %s", (text) => expect(JSON.stringify(parseExact(text))).toBe(text));

  it("keeps the digits of one member alone, if that is asked for", () => {
    const text = `{"value":${ID},"other":${ID},"in":[{"value":${ID}},{"value":[${ID}]}]}`;
    const rounded = String(Number(ID));
    expect(JSON.stringify(parseExact(text, "value"))).toBe(
      `{"value":${ID},"other":${rounded},"in":[{"value":${ID}},{"value":[${rounded}]}]}`,
    );
  });

  it("is refused as by JSON.parse", () => {
    for (const text of [`{"a":${ID}`, `[${ID},]`, `0${ID}`]) expect(() => parseExact(text)).toThrow(SyntaxError);
  });
});

describe("a path", () => {
  const select = (path: string, text: string) => {
    const parsed = parseJsonPath(path);
    if (!parsed.ok) throw new Error(parsed.message);
    return selectJson(parsed.path, parseExact(text), 50_000 + 4 * text.length);
  };

  it("compares numbers with all their digits, and does not look into them", () => {
    const text = `[{"id":50000000014435120,"a":1},{"id":${ID},"a":2}]`;
    expect(select(`$[?@.id == ${ID}].a`, text)).toEqual([2]);
    expect(select(`$[?@.id < ${ID}].a`, text)).toEqual([1]);
    expect(select("$..rawJSON", text)).toEqual([]);
    expect(select("$[?length(@.id) > 0]", text)).toEqual([]);
  });

  it("pays for the digits that it compares", () => {
    const large = "1".repeat(100_000);
    expect(select("$[?@ == $[0]]", `[${large}${`,${ID}`.repeat(200)}]`) === null).toBe(true);
  });
});
