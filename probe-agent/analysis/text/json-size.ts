/** Returns the size of a value as JSON, in bytes. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns as many leading items as fit into `maxBytes` of JSON. */
export function leading<T>(items: readonly T[], maxBytes: number): T[] {
  let bytes = 2;
  const cut = items.findIndex((item) => {
    bytes += jsonBytes(item) + 1;
    return bytes > maxBytes + 1;
  });
  return cut < 0 ? [...items] : items.slice(0, cut);
}

/** Returns the longest start of a text that fits into `maxBytes` of JSON. */
export function leadingText(text: string, maxBytes: number): string {
  if (text.length * 6 + 2 <= maxBytes || jsonBytes(text) <= maxBytes) return text;
  let fits = 0;
  let tooLong = Math.min(text.length, maxBytes);
  while (fits + 1 < tooLong) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (jsonBytes(text.slice(0, middle).toWellFormed()) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, fits).replace(/[\uD800-\uDBFF]$/, "");
}

/** Divides `total` so that small needs are met in full and large needs get equal parts of the rest. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares = needs.map(() => 0);
  let left = total;
  const smallestFirst = needs.map((need, index) => ({ need, index })).toSorted((one, other) => one.need - other.need);
  for (const [done, { need, index }] of smallestFirst.entries()) {
    const share = Math.min(need, Math.floor(left / (needs.length - done)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
