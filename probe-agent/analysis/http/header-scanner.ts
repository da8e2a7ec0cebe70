/** Octets of a token (RFC 9110 section 5.6.2). */
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const BLANKS = /[ \t]*/y;

/** Reads the parts that structured header fields are made of, from left to right, in linear time. */
export class HeaderScanner {
  readonly #text: string;
  #at = 0;

  /** Longer texts are cut: no honest header is, and what stands there is a stranger's. */
  constructor(text: string, maxCharacters = 16_384) {
    this.#text = text.slice(0, maxCharacters);
  }

  /** Whether all has been read. */
  atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Skips optional white space. */
  blanks(): this {
    this.#match(BLANKS);
    return this;
  }

  /** Reads that very character; false where another stands there. */
  take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  token(): string | null {
    return this.#match(TOKEN)?.[0] ?? null;
  }

  /** The content of a quoted-string, escapes undone (RFC 9110 section 5.6.4). */
  quoted(): string | null {
    return this.#match(QUOTED)?.[1]?.replaceAll(/\\(.)/gs, "$1") ?? null;
  }

  /** Reads up to a character and over it; null where it does not come. */
  until(character: string): string | null {
    const end = this.#text.indexOf(character, this.#at);
    if (end === -1) return null;
    const read = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return read;
  }

  /** Goes on behind the next comma that is in no quoted-string: the way out of an element that cannot be read. */
  skipElement(): void {
    while (!this.atEnd() && !this.take(",")) {
      if (this.#text[this.#at] !== '"') this.#at += 1;
      // A quote that never ends takes the rest with it; to look for another end at each of its characters would be slow.
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
