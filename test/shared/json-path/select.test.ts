import { describe, expect, it } from "vitest";
import { parseJsonPath } from "#shared/json-path/parse.ts";
import { selectJson } from "#shared/json-path/select.ts";

const STEPS = 100_000;

function select(text: string, document: unknown, steps = STEPS): readonly unknown[] | null {
  const parsed = parseJsonPath(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return selectJson(parsed.path, document, steps);
}

/** The example of RFC 9535 section 1.5. */
const STORE = {
  store: {
    book: [
      { category: "reference", author: "Nigel Rees", title: "Sayings of the Century", price: 8.95 },
      { category: "fiction", author: "Evelyn Waugh", title: "Sword of Honour", price: 12.99 },
      { category: "fiction", author: "Herman Melville", title: "Moby Dick", isbn: "0-553-21311-3", price: 8.99 },
      {
        category: "fiction",
        author: "J. R. R. Tolkien",
        title: "The Lord of the Rings",
        isbn: "0-395-19395-8",
        price: 22.99,
      },
    ],
    bicycle: { color: "red", price: 399 },
  },
};
const titles = (...at: number[]) => at.map((index) => STORE.store.book[index]?.title);

describe("a path", () => {
  it.each([
    ["$", [STORE]],
    ["$.store.book[*].author", STORE.store.book.map(({ author }) => author)],
    ["$..author", STORE.store.book.map(({ author }) => author)],
    ["$.store.*", [STORE.store.book, STORE.store.bicycle]],
    ["$.store..price", [8.95, 12.99, 8.99, 22.99, 399]],
    ["$..book[2].title", titles(2)],
    ["$..book[-1].title", titles(3)],
    ["$..book[0,1].title", titles(0, 1)],
    ["$..book[:2].title", titles(0, 1)],
    ["$..book[?@.isbn].title", titles(2, 3)],
    ["$..book[?@.price<10].title", titles(0, 2)],
    ["$..book[?@['price'] >= 12.99 && @.category == 'fiction'].title", titles(1, 3)],
    ["$..book[?!@.isbn].title", titles(0, 1)],
    ["$..book[?@.price > $.store.bicycle.price].title", []],
    ["$.store.book[?length(@.title) == 9].title", titles(2)],
    ["$.store.book[?count(@.*) == 4].title", titles(0, 1)],
    ["$.store.book[?value(@..isbn) == '0-553-21311-3'].title", titles(2)],
    ["$.store.book[?match(@.author, '[A-Z].*n')].title", titles(3)],
    ["$.store.book[?search(@.title, 'of|Dick')].title", titles(0, 1, 2, 3)],
    ["$['store']['bicycle'][\"color\"]", ["red"]],
    ["$ .store\n.bicycle\t.color", ["red"]],
  ])("selects as the RFC says: %s", (text, expected) => {
    expect(select(text, STORE)).toEqual(expected);
  });

  it.each([
    ["$[1:3]", ["b", "c"]],
    ["$[5:]", ["f", "g"]],
    ["$[1:5:2]", ["b", "d"]],
    ["$[5:1:-2]", ["f", "d"]],
    ["$[::-1]", ["g", "f", "e", "d", "c", "b", "a"]],
    ["$[-3:-1]", ["e", "f"]],
    ["$[ 1 : 3 : 1 ]", ["b", "c"]],
    ["$[::0]", []],
    ["$[100:]", []],
    ["$[:-100:-1]", ["g", "f", "e", "d", "c", "b", "a"]],
    ["$[0, 0]", ["a", "a"]],
    ["$[7]", []],
    ["$[-8]", []],
    ["$.length", []],
  ])("selects of an array: %s", (text, expected) => {
    expect(select(text, ["a", "b", "c", "d", "e", "f", "g"])).toEqual(expected);
  });

  it("visits descendants before its siblings, each value before what is in it", () => {
    const document = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] };
    expect(select("$..j", document)).toEqual([1, 4]);
    expect(select("$..[0]", document)).toEqual([5, { j: 4 }]);
    expect(select("$..[*]", { a: [1] })).toEqual([[1], 1]);
  });

  it("reads members of the document's own alone", () => {
    const document = JSON.parse('{"__proto__": 1, "a": {}}') as unknown;
    expect(select("$.__proto__", document)).toEqual([1]);
    expect(select("$.a.constructor", document)).toEqual([]);
    expect(select("$.a.__proto__", document)).toEqual([]);
    expect(select("$[?@.toString]", document)).toEqual([]);
  });
});

describe("a comparison", () => {
  const holds = (condition: string) =>
    (select(`$[?${condition}]`, [{ a: 1, s: "b", l: [1, 2], n: null, t: "😀" }]) ?? []).length === 1;

  it.each([
    "@.missing == @.absent",
    "@.a != 'x'",
    "@.a == 1.0",
    "@.a == 1e0",
    "@.n == null",
    "@.missing != null",
    "@.l == @['l']",
    "@.a <= 1",
    "@.s < 'c'",
    "'a' < @.s",
    "!(@.a < 'z')",
    "@.missing <= @.absent",
    "@.t > '\\uffee'",
    "length(@.t) == 1",
    "length(@.l) == 2",
    "length(@.missing) == length(@.a)",
    "@.a == 1 || @.a == 2 && @.a == 3",
    "(@.a == 1 || @.a == 2) && @.s == 'b'",
    "@.l[?@ > 1]",
    "true == true",
  ])("holds: %s", (condition) => {
    expect(holds(condition)).toBe(true);
  });

  it.each([
    "@.a == '1'",
    "@.a < 1",
    "@.missing < 1",
    "@.missing == null",
    "@.n < 1",
    "@.l < @.l",
    "@.l == 1",
    "!@.a",
    "@.a && @.missing",
    "match(@.a, '1')",
    "match(@.s, '[')",
    "match(@.s, 'B')",
    "value(@.*) == 1",
  ])("does not hold: %s", (condition) => {
    expect(holds(condition)).toBe(false);
  });
});

describe("a document that is made to be slow", () => {
  const deep = JSON.parse(`${"[".repeat(200_000)}1${"]".repeat(200_000)}`) as unknown;
  const wide = Array.from({ length: 20_000 }, () => [1, 2]);

  it("is searched without recursion", () => {
    expect(select("$..[?@ == 1]", deep, 2_000_000)).toEqual([1]);
    expect(select("$[?@ == $[0]]", deep, 2_000_000)).toHaveLength(1);
  });

  it.each(["$..*..*..*", "$..[?count($..*) > 1]", "$[?@ == $]", "$[*,*,*,*,*,*,*,*,*,*,*]", "$[?length($) > $[0][0]]"])(
    "takes no more steps than it may: %s",
    (text) => {
      expect(select(text, wide, 50_000)).toBeNull();
    },
  );
});
