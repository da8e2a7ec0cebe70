/**
 * Removes the characters at the end of a text for which `drops` holds. The work is linear. An expression such as `/x+$/`
 * is not: a search tries it again from each character of every run, so a long run in the middle costs its square.
 */
export function withoutTrailing(text: string, drops: (character: string) => boolean): string {
  let end = text.length;
  while (end > 0 && drops(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
