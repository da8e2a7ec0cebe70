import { describe, expect, it } from "vitest";
import { parseJsonObject } from "#control-plane/http/json.ts";

const parse = (text: string) => parseJsonObject(Buffer.from(text));

describe("a JSON body", () => {
  it("is an object, and {} if it is empty", () => {
    expect(parse('{"a": [1, {"b": "x"}], "c": "\\u00e4"}')).toEqual({
      ok: true,
      value: { a: [1, { b: "x" }], c: "ä" },
    });
    expect(parse("")).toEqual({ ok: true, value: {} });
    expect(parse(" \n")).toEqual({ ok: true, value: {} });
    expect(parse('\uFEFF{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each([
    "{",
    `{"a": "x`,
    `{"a\\"`,
    `{"\\q": 1}`,
    "]]}}",
    "[1]",
    '"x"',
    "1",
    "null",
    "{'a': 1}",
    '{"a": NaN}',
    '{"a": 1} x',
    '{"a": 1,}',
  ])("cannot be anything else: %s", (text) => expect(parse(text)).toMatchObject({ ok: false, reason: "invalid_json" }));

  it("is UTF-8", () => {
    expect(parseJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatchObject({
      ok: false,
      reason: "invalid_json",
    });
  });

  it.each(['{"__proto__": 1}', '{"a": [{"__proto__": {}}]}', '{"\\u005f_proto__": 1}', '{"a": 1, "__proto__" : 2}'])(
    "has no __proto__ anywhere: %s",
    (text) => expect(parse(text)).toMatchObject({ ok: false, reason: "unknown", field: "__proto__" }),
  );

  it.each(['{"a": 1, "a": 2}', '{"x": {"a": 1, "b": {}, "a": 1}}', '{"a": 1, "\\u0061": 2}'])(
    "has each key once: %s",
    (text) => expect(parse(text)).toMatchObject({ ok: false, reason: "duplicate", field: "a" }),
  );

  it("can have the same key in different objects, and anything in its strings", () => {
    expect(parse('{"a": {"a": [{"a": 1}, {"a": 2}]}, "b": "__proto__", "c": "\\"a\\": {[", "d": ["a", "a"]}').ok).toBe(
      true,
    );
  });

  it("is refused without traversal if it is nested too deeply", () => {
    const deep = `{"a": ${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
    expect(parse(deep)).toMatchObject({ ok: false, reason: "invalid_json" });
    expect(parse(`{"a": ${"[".repeat(60)}${"]".repeat(60)}}`).ok).toBe(true);
  });

  it("is refused before it is parsed if it has too many lists and objects, and the field with them is named", () => {
    const most = 1_000;
    const limited = (text: string) => parseJsonObject(Buffer.from(text), most);
    const lists = (count: number) => `[${"[],".repeat(count - 2)}[]]`;
    expect(limited(`{"name": {"a": 1}, "tags": ${lists(most - 2)}}`).ok).toBe(true);
    // The rest is not read: it is not even JSON.
    const refused = limited(`{"name": {"a": 1}, "tags": ${lists(most - 1)}, x`);
    expect(refused).toMatchObject({ ok: false, reason: "range", field: "tags" });
    expect(limited(lists(most + 1))).toMatchObject({ ok: false, reason: "range", field: "body" });
  });
});
