/** Quotes a word for a POSIX shell if it contains special characters; "=" as the first is special to zsh. */
export function quoted(word: string): string {
  return /^[\w.,:/@%+-][\w.,:/@%+=-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
