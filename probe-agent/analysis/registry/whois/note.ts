/** A value and the remark in brackets at its end, e.g. "Example Ltd [Tag = EXAMPLE]". */
interface Noted {
  /** Value without trailing white space. */
  readonly bare: string;
  /** Text between the brackets. */
  readonly note: string;
}

/**
 * Splits off the remark. Returns null if the text does not end in a pair of `brackets`, e.g. "()". The work is linear.
 */
export function splitNote(text: string, brackets: "()" | "[]"): Noted | null {
  const [open = "", close = ""] = brackets;
  const whole = text.trimEnd();
  if (!whole.endsWith(close)) return null;
  const previous = whole.slice(0, -1).lastIndexOf(close);
  const start = whole.indexOf(open, previous + 1);
  return start === -1 ? null : { bare: whole.slice(0, start).trimEnd(), note: whole.slice(start + 1, -1) };
}
