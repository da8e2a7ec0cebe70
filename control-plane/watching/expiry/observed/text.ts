const SPACE = 0x20;
const DELETE = 0x7f;
const LAST_C1 = 0x9f;
/** Times outside of these years are mistakes of registries, or lies. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2200;

/** Returns untrusted text without control characters, at most `most` characters; null if it is no text or empty. */
export function boundedText(value: unknown, most: number): string | null {
  if (typeof value !== "string") return null;
  const characters = Array.from(value.slice(0, most).toWellFormed());
  const text = characters.filter(isPrintable).join("").trim();
  return text === "" ? null : text;
}

function isPrintable(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return code >= SPACE && (code < DELETE || code > LAST_C1);
}

/** Reads a time, as ISO 8601 UTC; null if it is none, or cannot be meant. */
export function readTime(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return null;
  const year = time.getUTCFullYear();
  return year >= FIRST_YEAR && year <= LAST_YEAR ? time.toISOString() : null;
}
