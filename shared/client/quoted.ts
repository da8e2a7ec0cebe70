/** Quotes a word for a POSIX shell if it contains special characters. */
export function quoted(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
