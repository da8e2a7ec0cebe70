/** Octets of a token (RFC 9110 section 5.6.2). */
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BLANKS = /[ \t]*/y;

/** Scanner that reads the syntactic parts of a header field from left to right, in linear time. */
export class HeaderScanner {
  readonly #text: string;
  #at = 0;

  /** Cuts a text longer than `maxCharacters`: genuine headers are shorter, and the text is untrusted. */
  constructor(text: string, maxCharacters = 16_384) {
    this.#text = text.slice(0, maxCharacters);
  }

  /** Reports whether the whole text has been read. */
  atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Skips optional white space. */
  blanks(): this {
    this.#match(BLANKS);
    return this;
  }

  /** Reads the given character. Returns false, and reads nothing, if the next character is another one. */
  take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Reads a token (RFC 9110 section 5.6.2). Returns null if there is none at this position. */
  token(): string | null {
    return this.#match(TOKEN)?.[0] ?? null;
  }

  /** Reads a quoted-string and returns its content, unescaped (RFC 9110 section 5.6.4); null if there is none. */
  quoted(): string | null {
    return this.#match(QUOTED)?.[1]?.replaceAll(/\\(.)/gs, "$1") ?? null;
  }

  /** Reads up to and including a character. Returns the text before it; null, with nothing read, if there is none. */
  until(character: string): string | null {
    const end = this.#text.indexOf(character, this.#at);
    if (end === -1) return null;
    const read = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return read;
  }

  /**
   * Skips to the position after the next comma outside a quoted-string. Used to recover from an element that cannot be
   * parsed.
   */
  skipElement(): void {
    while (!this.atEnd() && !this.take(",")) {
      if (this.#text[this.#at] !== '"') this.#at += 1;
      // An unterminated quote skips the rest of the text: a search for its end at each later quote would be slow.
      else if (this.quoted() === null) this.#at = this.#text.length;
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }
}
