import { describe, expect, it } from "vitest";
import { parseJsonPath } from "#shared/json-path/parse.ts";

describe("a text that is no path", () => {
  it.each([
    ["", "begins with $"],
    ["a", "begins with $"],
    [" $", "begins with $"],
    ["$ ", "at character 2"],
    ["$.", "expected a name or *"],
    ["$..", "expected a name or *"],
    ["$. a", "expected a name or *"],
    ["$.1a", "expected a name or *"],
    ["$[", "expected a name in quotes"],
    ["$[]", "expected a name in quotes"],
    ["$[01]", "expected a name in quotes"],
    ["$[-0]", "expected a name in quotes"],
    ["$[1", "expected ]"],
    ["$[1,]", "expected a name in quotes"],
    ["$[9007199254740992]", "the number is too large"],
    ["$['a]", "ends too early"],
    ["$['\\q']", "no escape sequence"],
    ["$['\\\"']", "no escape sequence"],
    ["$['\\uD800']", "expected \\u"],
    ["$['\\uDC00']", "half of a surrogate pair"],
    ["$['\\u12g4']", "four hexadecimal digits"],
    ["$['\u0001']", "control character"],
    ["$[?]", "expected @, $, a value or a function"],
    ["$[?@.a ==]", "expected @, $, a value or a function"],
    ["$[?1]", "expected a comparison"],
    ["$[?true]", "expected a comparison"],
    ["$[?@.* == 1]", "only one node"],
    ["$[?@..a == 1]", "only one node"],
    ["$[?@[0,1] == 1]", "only one node"],
    ["$[?!@.a == 1]", "expected ]"],
    ["$[?length(@.a)]", "expected a comparison"],
    ["$[?match(@.a, 'b') == true]", "no value to compare"],
    ["$[?length(@.*) == 1]", "only one node"],
    ["$[?count(1) == 1]", "needs a query"],
    ["$[?count (@.a) == 1]", "no value"],
    ["$[?match(@.a)]", "expected ,"],
    ["$[?foo(@.a)]", "there is no function foo"],
    ["$[?@.a == 01]", "expected @, $, a value or a function"],
    ["$[?@.a == 1.]", "expected ]"],
    ["$[?@.a = 1]", "expected ]"],
    ["$[?@.a === 1]", "expected @, $, a value or a function"],
    ["$[?(@.a]", "expected )"],
    [`$${"[?@".repeat(40)}`, "more than 30 levels"],
    [`$[?${"(".repeat(40)}`, "more than 30 levels"],
    [`$.${"a".repeat(1_000)}`, "more than 1000 characters"],
  ])("%s is refused: %s", (text, message) => {
    const parsed = parseJsonPath(text);
    expect(parsed.ok ? "" : parsed.message).toContain(message);
  });
});

describe("a path", () => {
  it.each([
    ["$.☺.käse", ["☺", "käse"]],
    ["$['\\u263A'][\"\\uD83D\\ude00\"]", ["☺", "😀"]],
    ["$['\\'']['\\n\\/\\\\']", ["'", "\n/\\"]],
    ["$[ 'a' ][\"b'\"]", ["a", "b'"]],
  ])("has the names %s", (text, names) => {
    const parsed = parseJsonPath(text);
    if (!parsed.ok) throw new Error(parsed.message);
    expect(parsed.path.segments.flatMap(({ selectors }) => selectors)).toEqual(
      names.map((name) => ({ kind: "name", name })),
    );
  });
});
