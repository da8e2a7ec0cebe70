/** Characters of an example, as its file has it; documents print every one of them. */
export const MOST_CHARACTERS = 12_000;

/** Texts such as a registry's raw answer say what they have to say in their beginning. */
const MOST_TEXT = 400;

/**
 * A result short enough to print: every text cut to 400 characters, and every list to its first items, as many as fit
 * (at most 12, at least one). Everything else is unchanged, so counts are those of the complete result.
 */
export function cutToPrint(data: unknown): unknown {
  for (const most of [12, 8, 6, 4, 3, 2, 1]) {
    const short = shorten(data, most);
    if (most === 1 || printed(short).length <= MOST_CHARACTERS) return short;
  }
  return data;
}

/** As the files have it, before formatting. */
export function printed(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function shorten(value: unknown, most: number): unknown {
  if (typeof value === "string") return value.length <= MOST_TEXT ? value : `${value.slice(0, MOST_TEXT - 1)}…`;
  if (Array.isArray(value)) return value.slice(0, most).map((item) => shorten(item, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, shorten(field, most)]));
}
