/**
 * Two phrases, of which the second begins at most `within` characters after the end of the first. Both expressions are
 * global.
 */
export interface Near {
  readonly first: RegExp;
  readonly within: number;
  readonly second: RegExp;
}

/**
 * Reports whether a text contains both phrases in that order and distance. The work is linear. The single expression
 * `first.{0,within}second` would read up to `within` characters again for each place where `first` matches.
 */
export function hasNear(text: string, { first, within, second }: Near): boolean {
  const ends = Array.from(text.matchAll(first), (match) => match.index + match[0].length);
  let next = 0;
  let latest: number | undefined;
  for (const { index } of text.matchAll(second)) {
    for (let end = ends[next]; end !== undefined && end <= index; end = ends[next]) {
      latest = end;
      next += 1;
    }
    if (latest !== undefined && index - latest <= within) return true;
  }
  return false;
}
