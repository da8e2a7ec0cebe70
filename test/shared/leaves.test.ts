import { expect, it } from "vitest";
import { listLeaves } from "#shared/leaves.ts";

it("the leaves of a value stand in its own order; what is empty or has no value is a leaf too", () => {
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

it("no more leaves than asked for are listed", () => {
  expect(listLeaves([1, 2, 3], 2)).toEqual({
    leaves: [
      ["0", 1],
      ["1", 2],
    ],
    isCut: true,
  });
  expect(listLeaves([1, 2], 2).isCut).toBe(false);
});
