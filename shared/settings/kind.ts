/** Converts the text of a setting to a value. */
export interface Kind<T> {
  /** The allowed values, worded to follow "must be". */
  readonly allowed: string;
  /** Returns the value, or undefined if the text is not allowed. Never throws; `text` is never empty. */
  parse(text: string): T | undefined;
  /** Returns what is probably wrong with a text that is not allowed, worded to follow a semicolon, without any of it. */
  explain?(text: string): string | undefined;
}
