/** Characters shown of one value; what is longer ends in an ellipsis. */
const MAX_TEXT = 512;

// Surrogates that stand alone are no characters and break what reads the answer.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/** A value as it may be shown: white space of any kind is a space, other control characters are U+FFFD, long text is cut. */
export function printable(text: string, max = MAX_TEXT): string {
  const short = text.length > max ? `${text.slice(0, max - 1)}…` : text;
  return short.replaceAll(UNPRINTABLE, (character) => (/\s/.test(character) ? " " : "\uFFFD"));
}

/** The same for a value that may be absent. */
export function printableOrNull(text: string | null | undefined, max = MAX_TEXT): string | null {
  return text === null || text === undefined || text === "" ? null : printable(text, max);
}
