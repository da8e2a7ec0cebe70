// Embeddings, overrides and isolates (UAX 9) show the text after them in another order, and line separators break the
// line of a mail or a log. Marks that right-to-left scripts need are allowed.
const REORDERING = /[\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;

/** Returns why a text for people must not be shown as it is; null if it can be. Control characters are not looked for. */
export function directionProblem(text: string): string | null {
  return REORDERING.test(text) ? "must not contain characters that reorder text or break lines" : null;
}
