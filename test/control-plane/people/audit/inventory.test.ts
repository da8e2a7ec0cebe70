import { expect, it } from "vitest";
import { sliceLists } from "#control-plane/people/audit/export.ts";

it("pages of an inventory run through all rows of all lists, each of them once and in order", () => {
  const totals = [3, 0, 5, 1, 7];
  const rows = totals.flatMap((total, list) => Array.from({ length: total }, (_, row) => `${list}.${row}`));
  for (let limit = 1; limit <= rows.length + 1; limit += 1) {
    const found: string[] = [];
    for (let offset = 0; offset < rows.length; offset += limit) {
      const slices = sliceLists(totals, { limit, offset });
      const page = slices.flatMap((slice, list) =>
        Array.from({ length: slice.limit }, (_, row) => `${list}.${slice.offset + row}`),
      );
      expect(page.length).toBe(Math.min(limit, rows.length - offset));
      found.push(...page);
    }
    expect(found).toEqual(rows);
  }
});

it("a page beyond the last one, and an account without rows, have none", () => {
  expect(sliceLists([2, 1], { limit: 5, offset: 10 }).map(({ limit }) => limit)).toEqual([0, 0]);
  expect(sliceLists([0, 0], { limit: 5, offset: 0 }).map(({ limit }) => limit)).toEqual([0, 0]);
});
