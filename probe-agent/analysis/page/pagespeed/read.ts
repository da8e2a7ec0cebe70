/** Members of an object of a service's answer; empty for anything else. Keys of the prototype are no members. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  const plain = typeof value === "object" && value !== null && !Array.isArray(value);
  return Object.assign(Object.create(null) as Record<string, unknown>, plain ? value : {});
}

/** A finite number that is not negative; null for anything else. */
export function amountOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? value
    : null;
}

/** The same without fraction. */
export function wholeOf(value: unknown): number | null {
  const amount = amountOf(value);
  return amount === null ? null : Math.round(amount);
}

/** A text on one line, at most `length` characters; null for anything else and the empty text. */
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
