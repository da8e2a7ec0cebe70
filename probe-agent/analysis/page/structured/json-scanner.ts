/** A fault of a JSON text. `offset` counts characters from its start. */
export interface JsonFault {
  readonly message: string;
  readonly offset: number;
}

/** Stops the reading of a text that is no JSON even to a lenient reader; never leaves parseLenientJson. */
export class Unreadable extends Error {
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
/** A line comment that hides an opening marker, as scripts inside XHTML have it. */
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

/** Reads the smallest parts of a JSON text and what may stand between them; each kind of fault is kept once. */
export class JsonScanner {
  at = 0;
  readonly #text: string;
  readonly #faults = new Map<string, { offset: number; count: number }>();
  #wrapped = false;

  constructor(text: string) {
    this.#text = text;
  }

  get next(): string | undefined {
    return this.#text[this.at];
  }

  /** Faults that were read over, by position. */
  faults(): JsonFault[] {
    return Array.from(this.#faults, ([message, { offset, count }]) => ({
      message: count === 1 ? message : `${message} (${count} times)`,
      offset,
    })).toSorted((one, other) => one.offset - other.offset);
  }

  fault(message: string, offset = this.at): void {
    const known = this.#faults.get(message);
    if (known === undefined) this.#faults.set(message, { offset, count: 1 });
    else known.count += 1;
  }

  /** Skips white space, comments and wrappers. `outside`: not within the value, where wrappers may stand. */
  skip(outside: boolean, before = false): void {
    for (;;) {
      if (this.#match(SPACE) !== null) continue;
      const start = this.at;
      if (this.#match(ODD_SPACE) !== null) this.fault("a character that is no white space in JSON", start);
      else if (!this.#skipComment() && !this.#skipHtmlComment(outside && before) && !(outside && this.#skipMarker())) {
        return;
      }
    }
  }

  string(): string {
    const start = this.at;
    if (this.next !== '"') throw new Unreadable(this.#unexpected(), start);
    this.at += 1;
    const parts: string[] = [];
    for (;;) {
      const plain = this.#match(PLAIN);
      if (plain !== null) parts.push(plain);
      const character: string | undefined = this.#text[this.at];
      if (character === undefined) throw new Unreadable("a string without an end", start);
      if (character === '"') break;
      if (character === "\\") parts.push(this.#escape());
      else {
        if (character < " ") this.fault("a control character inside a string");
        parts.push(character);
        this.at += 1;
      }
    }
    this.at += 1;
    // NUL and half characters cannot be stored as text by those who get the result.
    return parts.join("").replaceAll("\0", "\uFFFD").toWellFormed();
  }

  /** A string, number, true, false or null. */
  scalar(): string | number | boolean | null {
    if (this.next === '"') return this.string();
    const start = this.at;
    const literal = this.#match(LITERAL);
    if (literal !== null) return LITERALS.get(literal) ?? null;
    const digits = this.#match(NUMBER);
    if (digits === null) throw new Unreadable(this.#unexpected(), start);
    const value = Number(digits);
    if (!Number.isFinite(value)) this.fault("a number too large to be one", start);
    // JSON has one zero.
    return Number.isFinite(value) ? value + 0 : digits.slice(0, 400);
  }

  unexpected(wanted: string): Unreadable {
    return new Unreadable(`${wanted} expected, ${this.#found()}`, this.at);
  }

  #unexpected(): string {
    return `a value expected, ${this.#found()}`;
  }

  #found(): string {
    return this.next === undefined ? "but the text ends" : `found ${JSON.stringify(this.next)}`;
  }

  #escape(): string {
    const start = this.at;
    const letter = this.#text[start + 1];
    if (letter === "u") {
      const digits = this.#text.slice(start + 2, start + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new Unreadable("\\u without four hexadecimal digits", start);
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const meant = letter === undefined ? undefined : ESCAPES[letter];
    if (meant === undefined) this.fault("a backslash before a character that needs none");
    this.at += meant === undefined ? 1 : 2;
    return meant ?? "";
  }

  #skipComment(): boolean {
    const start = this.at;
    if (this.#match(HIDDEN_MARKER) !== null) return true;
    if (this.#text.startsWith("//", start)) {
      this.fault("a comment (//)");
      const end = this.#text.indexOf("\n", start);
      this.at = end === -1 ? this.#text.length : end;
      return true;
    }
    if (!this.#text.startsWith("/*", start)) return false;
    this.#skipTo("*/", start, "a comment (/* */)");
    return true;
  }

  /** Before the value "<!--" may also be the opening half of an old wrapper around all of it. */
  #skipHtmlComment(mayWrap: boolean): boolean {
    const start = this.at;
    if (!this.#text.startsWith("<!--", start)) return false;
    if (mayWrap && !this.#wrapped) {
      this.#wrapped = true;
      const end = this.#text.indexOf("-->", start + 4);
      const after = end === -1 ? "" : this.#text.slice(end + 3, end + 3 + 1000).trimStart();
      if (!/^(?:[{[]|<!|\/[*/])/.test(after)) {
        this.fault("a comment (<!-- -->) around the data", start);
        this.at += 4;
        return true;
      }
    }
    this.#skipTo("-->", start, "a comment (<!-- -->)");
    return true;
  }

  #skipMarker(): boolean {
    if (this.#text.startsWith("<![CDATA[", this.at)) {
      this.fault("a CDATA wrapper");
      this.at += 9;
      return true;
    }
    if (!this.#text.startsWith("]]>", this.at) && !this.#text.startsWith("-->", this.at)) return false;
    this.at += 3;
    return true;
  }

  #skipTo(mark: string, start: number, what: string): void {
    const end = this.#text.indexOf(mark, start + 2);
    if (end === -1) throw new Unreadable(`${what} without an end`, start);
    this.fault(what, start);
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
