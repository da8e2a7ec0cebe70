import { canonicalize } from "#test/entry-points.ts";
import { expect, it } from "vitest";
import { parseExact } from "#shared/json/exact.ts";
import { toSignable } from "#control-plane/people/audit/envelope.ts";

it("is what the value is in JSON", () => {
  const value = { at: new Date(0), absent: undefined, list: [1, undefined], text: "\ud83d\ude00 \\ud83d" };
  expect(toSignable(value)).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    list: [1, null],
    text: "\ud83d\ude00 \\ud83d",
  });
});

it("has no half of a surrogate pair, in texts and in names, so that it has a canonical form", () => {
  const value = { "a\ud83d": ["b\ude00", { c: "\ud83d" }], n: 1, nothing: null, proto: JSON.parse('{"__proto__":1}') };
  const signable = toSignable(value);
  expect(signable).toEqual({ "a\ufffd": ["b\ufffd", { c: "\ufffd" }], n: 1, nothing: null, proto: value.proto });
  expect(() => canonicalize(signable)).not.toThrow();
  expect(canonicalize(signable)).toBe(canonicalize(JSON.parse(JSON.stringify(signable))));
});

it("has texts in place of numbers that readers of its canonical form would round", () => {
  const value = parseExact('{"id":50000000014435121,"large":1e300,"list":[-9007199254740992],"safe":9007199254740991}');
  expect(toSignable(value)).toEqual({
    id: "50000000014435121",
    large: "1e+300",
    list: ["-9007199254740992"],
    safe: 9007199254740991,
  });
});
