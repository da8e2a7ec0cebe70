import { expect, it } from "vitest";
import { listLeaves } from "#shared/text/leaves.ts";

it("leaves are in the order of the value; empty values and null are leaves too", () => {
  const data = { a: [{ b: 1 }, null], none: [], nothing: {}, gone: undefined };
  expect(listLeaves(data, 10)).toEqual({
    leaves: [
      ["a.0.b", 1],
      ["a.1", null],
      ["none", []],
      ["nothing", {}],
      ["gone", undefined],
    ],
    isCut: false,
  });
  expect(listLeaves("alone", 10)).toEqual({ leaves: [["", "alone"]], isCut: false });
});

it("at most the requested number of leaves is listed", () => {
  expect(listLeaves([1, 2, 3], 2)).toEqual({
    leaves: [
      ["0", 1],
      ["1", 2],
    ],
    isCut: true,
  });
  expect(listLeaves([1, 2], 2).isCut).toBe(false);
});
