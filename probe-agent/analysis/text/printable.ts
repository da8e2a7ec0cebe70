/** Default maximum length of a value, in characters. A longer value ends in an ellipsis. */
const MAX_TEXT = 512;

// Lone surrogates are not characters, and programs that read the result can fail on them.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/**
 * Makes a value safe to display: white space becomes a space, other control characters U+FFFD, and long text is cut.
 */
export function printable(text: string, max = MAX_TEXT): string {
  const short = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return short.replaceAll(UNPRINTABLE, (character) => (/\s/.test(character) ? " " : "\uFFFD"));
}

/** Makes a value safe to display as `printable` does. Returns null for an absent or empty value. */
export function printableOrNull(text: string | null | undefined, max = MAX_TEXT): string | null {
  return text === null || text === undefined || text === "" ? null : printable(text, max);
}
