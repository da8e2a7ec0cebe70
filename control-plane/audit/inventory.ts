import type { Slice } from "#control-plane/audit/ports.ts";

/**
 * Returns the slices of lists that form a slice of their concatenation: the page of an inventory runs through all rows
 * of the first list, then of the second, and so on.
 */
export function sliceLists(totals: readonly number[], { limit, offset }: Slice): readonly Slice[] {
  let start = 0;
  return totals.map((total) => {
    const from = Math.max(offset, start);
    const to = Math.min(offset + limit, start + total);
    const slice = { limit: Math.max(0, to - from), offset: Math.max(0, from - start) };
    start += total;
    return slice;
  });
}
