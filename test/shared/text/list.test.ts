import { describe, expect, it } from "vitest";
import { listAll, listFirst } from "#shared/text/list.ts";

describe("a list in a sentence", () => {
  it.each([
    [[], 3, undefined, ""],
    [["a"], 3, undefined, "a"],
    [["a", "b", "c"], 3, undefined, "a, b, c"],
    [["a", "b", "c", "d"], 3, undefined, "a, b, c and 1 more"],
    [["a", "b"], 3, 9, "a, b and 7 more"],
    [[1, 2], 1, undefined, "1 and 1 more"],
  ])("of %j with at most %i items of %s is %j", (items, most, total, words) => {
    expect(listFirst(items, most, total)).toBe(words);
  });

  it.each([
    [[], ""],
    [["a"], "a"],
    [["a", "b"], "a and b"],
    [["a", "b", "c"], "a, b and c"],
  ])("of all of %j is %j", (items, words) => {
    expect(listAll(items)).toBe(words);
  });
});
