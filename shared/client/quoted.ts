/** A word that a POSIX shell takes as it is written, whatever is in it. */
export function quoted(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
