/** Controls, invisible formatting such as bidi overrides, half surrogate pairs, and all kinds of white space. */
const NOT_PLAIN = /[\p{C}\p{Z}]+/gu;

/** How much more than its limit is read of a text: the rest of it can be invisible. */
const READ_FACTOR = 4;

/**
 * Returns text of a stranger as one printable line of at most `max` UTF-16 code units, for mail headers and logs.
 * Characters that a reader cannot see become spaces, runs of spaces one space, and long text ends in an ellipsis.
 */
export function plainLine(text: string, max: number): string {
  const plain = text
    .slice(0, max * READ_FACTOR)
    .replaceAll(NOT_PLAIN, " ")
    .trim();
  return cutLine(plain, max);
}

/** Cuts a line to at most `max` UTF-16 code units, the ellipsis included. Never splits a surrogate pair. */
export function cutLine(line: string, max: number): string {
  if (line.length <= max) return line;
  const kept = line.slice(0, max - 1);
  return `${(kept.isWellFormed() ? kept : kept.slice(0, -1)).trimEnd()}…`;
}
