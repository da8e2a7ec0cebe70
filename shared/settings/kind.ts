/** How the text of a setting becomes a value. */
export interface Kind<T> {
  /** What is allowed, to follow the words "must be". */
  readonly allowed: string;
  /** The value, or undefined where the text is not allowed. Never throws; `text` is never empty. */
  parse(text: string): T | undefined;
}
