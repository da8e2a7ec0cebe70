/** Lists at most `most` of some items, and counts the rest of `total`: "a, b and 4 more". */
export function listFirst(items: readonly (string | number)[], most: number, total = items.length): string {
  const shown = items.slice(0, most);
  const rest = total - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Joins all items as a sentence does: "a", "a and b", "a, b and c". An empty list is an empty text. */
export function listAll(items: readonly string[]): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} and ${last}`;
}
