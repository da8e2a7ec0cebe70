/** A syntax fault of a JSON text. `offset` is its position in characters from the start of the text. */
export interface JsonFault {
  readonly message: string;
  readonly offset: number;
}

/** Ends the parsing of a text that even a lenient parser cannot read. Never escapes parseLenientJson. */
export class UnreadableJson extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const SPACE = /[ \t\r\n]+/y;
const ODD_SPACE = /[\s\u200B]+/y;
const PLAIN = /[^"\\\p{Cc}]+/uy;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /true|false|null/y;
/** A line comment in front of an opening CDATA or comment marker, which hides it. Scripts inside XHTML use it. */
const HIDDEN_MARKER = /\/\/[ \t]*(?=<!\[CDATA\[|<!--)/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const LITERALS = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/**
 * Reads the tokens of a JSON text, and skips white space, comments and wrappers between them. Faults with the same
 * message are recorded once, with the number of times they occur.
 */
export class JsonScanner {
  /** Offset of the next character. */
  at = 0;
  readonly #text: string;
  readonly #faults = new Map<string, { offset: number; count: number }>();
  #wrapped = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next character; undefined at the end of the text. */
  get next(): string | undefined {
    return this.#text[this.at];
  }

  /** Returns the recorded faults, sorted by offset. Parsing continued after each of them. */
  faults(): JsonFault[] {
    return Array.from(this.#faults, ([message, { offset, count }]) => ({
      message: count === 1 ? message : `${message} (${count} times)`,
      offset,
    })).toSorted((one, other) => one.offset - other.offset);
  }

  /** Records a fault after which parsing continues. */
  recordFault(message: string, offset = this.at): void {
    const known = this.#faults.get(message);
    if (known === undefined) this.#faults.set(message, { offset, count: 1 });
    else known.count += 1;
  }

  /**
   * Skips white space, comments and wrappers. `outside`: true before and after the whole value, where wrappers are
   * possible. `before`: true before the value.
   */
  skip(outside: boolean, before = false): void {
    for (;;) {
      if (this.#match(SPACE) !== null) continue;
      const start = this.at;
      if (this.#match(ODD_SPACE) !== null) this.recordFault("a space character that JSON does not allow", start);
      else if (!this.#skipComment() && !this.#skipHtmlComment(outside && before) && !(outside && this.#skipMarker())) {
        return;
      }
    }
  }

  /** Reads a string and returns its content. */
  string(): string {
    const start = this.at;
    if (this.next !== '"') throw this.unexpected("a value");
    this.at += 1;
    const parts: string[] = [];
    for (;;) {
      const plain = this.#match(PLAIN);
      if (plain !== null) parts.push(plain);
      const character: string | undefined = this.#text[this.at];
      if (character === undefined) throw new UnreadableJson("a string without a closing quote", start);
      if (character === '"') break;
      if (character === "\\") parts.push(this.#escape());
      else {
        if (character < " ") this.recordFault("a control character inside a string");
        parts.push(character);
        this.at += 1;
      }
    }
    this.at += 1;
    // Clients cannot store NUL and lone surrogates as text.
    return parts.join("").replaceAll("\0", "\uFFFD").toWellFormed();
  }

  /** Reads a string, a number, true, false or null. A number outside the range of a double is returned as text. */
  scalar(): string | number | boolean | null {
    if (this.next === '"') return this.string();
    const start = this.at;
    const literal = this.#match(LITERAL);
    if (literal !== null) return LITERALS.get(literal) ?? null;
    const digits = this.#match(NUMBER);
    if (digits === null) throw this.unexpected("a value");
    const value = Number(digits);
    if (!Number.isFinite(value)) this.recordFault("a number outside the range of 64-bit floating point", start);
    // JSON has one zero: adding 0 turns -0 into 0.
    return Number.isFinite(value) ? value + 0 : digits.slice(0, 400);
  }

  /** Makes the error for a next character that the grammar does not allow. `expected`: a noun phrase. */
  unexpected(expected: string): UnreadableJson {
    return new UnreadableJson(`expected ${expected}, ${this.#found()}`, this.at);
  }

  #found(): string {
    return this.next === undefined ? "but the text ends" : `found ${JSON.stringify(this.next)}`;
  }

  #escape(): string {
    const start = this.at;
    const letter = this.#text[start + 1];
    if (letter === "u") {
      const digits = this.#text.slice(start + 2, start + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new UnreadableJson("\\u without four hexadecimal digits", start);
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = letter === undefined ? undefined : ESCAPES[letter];
    if (character === undefined) this.recordFault("a backslash before a character that cannot be escaped");
    this.at += character === undefined ? 1 : 2;
    return character ?? "";
  }

  #skipComment(): boolean {
    const start = this.at;
    if (this.#match(HIDDEN_MARKER) !== null) return true;
    if (this.#text.startsWith("//", start)) {
      this.recordFault("a comment (//)");
      const end = this.#text.indexOf("\n", start);
      this.at = end === -1 ? this.#text.length : end;
      return true;
    }
    if (!this.#text.startsWith("/*", start)) return false;
    this.#skipTo("*/", start, "a comment (/* */)");
    return true;
  }

  /** Skips an HTML comment. `mayWrap`: "<!--" can also open an old-style wrapper around the whole value. */
  #skipHtmlComment(mayWrap: boolean): boolean {
    const start = this.at;
    if (!this.#text.startsWith("<!--", start)) return false;
    if (mayWrap && !this.#wrapped) {
      this.#wrapped = true;
      const end = this.#text.indexOf("-->", start + 4);
      const after = end === -1 ? "" : this.#text.slice(end + 3, end + 3 + 1000).trimStart();
      if (!/^(?:[{[]|<!|\/[*/])/.test(after)) {
        this.recordFault("a comment (<!-- -->) around the data", start);
        this.at += 4;
        return true;
      }
    }
    this.#skipTo("-->", start, "a comment (<!-- -->)");
    return true;
  }

  #skipMarker(): boolean {
    if (this.#text.startsWith("<![CDATA[", this.at)) {
      this.recordFault("a CDATA wrapper");
      this.at += 9;
      return true;
    }
    if (!this.#text.startsWith("]]>", this.at) && !this.#text.startsWith("-->", this.at)) return false;
    this.at += 3;
    return true;
  }

  #skipTo(mark: string, start: number, what: string): void {
    const end = this.#text.indexOf(mark, start + 2);
    if (end === -1) throw new UnreadableJson(`${what} without an end`, start);
    this.recordFault(what, start);
    this.at = end + mark.length;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return null;
    this.at = pattern.lastIndex;
    return match[0];
  }
}
