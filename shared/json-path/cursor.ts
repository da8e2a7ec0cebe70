import { toExactNumber, type ExactNumber } from "#shared/json/exact.ts";

/** Error of a text that is not a valid path. Never leaves the parser. */
export class PathError extends Error {
  override readonly name = "PathError";
}

/** Levels of parentheses, filters in filters, and function arguments. */
const MAX_DEPTH = 30;

const MAX_INTEGER = Number.MAX_SAFE_INTEGER;
const INTEGER = /(?:0|-?[1-9]\d{0,15})(?!\d)/y;
const NUMBER = /-?(?:0|[1-9]\d{0,308})(?:\.\d{1,308})?(?:[eE][+-]?\d{1,3})?(?!\d)/y;
const NAME = /[A-Za-z_\u0080-\uD7FF\uE000-\u{10FFFF}][A-Za-z0-9_\u0080-\uD7FF\uE000-\u{10FFFF}]*/uy;
const WORD = /[a-z][a-z0-9_]*/y;
const BLANKS = /[ \t\n\r]*/y;

/** A position in the text of a path. */
export class Cursor {
  readonly text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.text.length;
  }

  /** The current position, for `back`. */
  get position(): number {
    return this.#at;
  }

  /** Returns to an earlier position. */
  back(position: number): void {
    this.#at = position;
  }

  /** Reports whether a word is next. */
  sees(word: string): boolean {
    return this.text.startsWith(word, this.#at);
  }

  /** Skips a word if it is next, and reports whether it was. */
  skip(word: string): boolean {
    const found = this.sees(word);
    if (found) this.#at += word.length;
    return found;
  }

  /** Skips a word that must be next. */
  expect(word: string): void {
    if (!this.skip(word)) this.fail(`expected ${word}`);
  }

  blanks(): void {
    this.#take(BLANKS);
  }

  /** Returns an integer of an index or a slice; null if none is next. */
  integer(): number | null {
    const digits = this.#take(INTEGER);
    if (digits === null) return null;
    const value = Number(digits);
    if (Math.abs(value) > MAX_INTEGER) this.fail("the number is too large");
    return value;
  }

  /** Returns a number of a comparison; null if none is next. */
  number(): ExactNumber | null {
    const digits = this.#take(NUMBER);
    return digits === null ? null : toExactNumber(digits);
  }

  /** Returns a name as after a dot; null if none is next. */
  name(): string | null {
    return this.#take(NAME);
  }

  /** Returns the name of a function or of a literal; null if none is next. */
  word(): string | null {
    return this.#take(WORD);
  }

  /** Returns the next character and skips it. */
  character(): string {
    if (this.atEnd) this.fail("the path ends too early");
    const character = this.text.charAt(this.#at);
    this.#at += 1;
    return character;
  }

  /** Runs a nested part. The depth is limited, because the parser and the evaluation are recursive. */
  nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.fail(`more than ${MAX_DEPTH} levels`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  fail(message: string): never {
    throw new PathError(`${message}, at character ${this.#at + 1}`);
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }
}
