/**
 * Removes trailing characters for which `drops` returns true, in linear time. An expression such as `/x+$/` is quadratic:
 * a search retries it from each character of a run, so a long run in the middle costs the square of its length.
 */
export function withoutTrailing(text: string, drops: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && drops(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
