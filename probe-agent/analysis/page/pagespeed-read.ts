/** Returns the members of an object, without those of its prototype. Returns {} for other values. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  const plain = typeof value === "object" && value !== null && !Array.isArray(value);
  return Object.assign(Object.create(null) as Record<string, unknown>, plain ? value : {});
}

/** Returns a finite, non-negative number, or null for other values. */
export function amountOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? value
    : null;
}

/** Returns the number rounded to an integer, or null for other values. */
export function wholeOf(value: unknown): number | null {
  const amount = amountOf(value);
  return amount === null ? null : Math.round(amount);
}

/** Returns a text as one line of up to `length` characters, or null for an empty text and other values. */
export function lineOf(value: unknown, length: number): string | null {
  if (typeof value !== "string") return null;
  const line = value
    .slice(0, 4 * length)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, length)
    .toWellFormed();
  return line === "" ? null : line;
}
