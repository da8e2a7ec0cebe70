/** One reference in the text of a style sheet. */
interface StyleReference {
  readonly address: string;
  readonly kind: "import" | "font" | "image";
  /** Media query of an @import. "" for other kinds. */
  readonly media: string;
}

const MAX_CHARACTERS = 500_000;
const MAX_REFERENCES = 500;
const WORD = /@import|@namespace|@font-face|[{}]|url\(/gi;
// Text that follows @import, @namespace and url(.
const IMPORT = /\s+(?:url\(\s*)?(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'();]{1,8192}))\s*\)?([^;{}]{0,500})/iy;
const NAMESPACE = /[^;{}]{0,500}/y;
const URL_END = /\s*(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'()]{1,8192}))\s*\)/y;

/**
 * Finds what a browser can fetch for a style sheet: @import, the first source of each @font-face that is not an EOT
 * file, and url() of declarations. With `allFonts`, returns all sources of @font-face, because a browser that does not
 * support the first format tries the next one. Does not check which rules apply to the page.
 */
export function styleReferences(css: string, allFonts = false): StyleReference[] {
  const references: StyleReference[] = [];
  const text = withoutComments(css.slice(0, MAX_CHARACTERS));
  let font: "no" | "opening" | "inside" | "done" = "no";
  for (const { word, address, conditions } of findTokens(text)) {
    if (word === "@import" && address !== undefined)
      references.push({ address, kind: "import", media: parseMedia(conditions ?? "") });
    else if (word === "@font-face") font = "opening";
    else if (word === "{") font = font === "opening" ? "inside" : "no";
    else if (word === "}") font = "no";
    else if (address !== undefined && font === "inside") {
      // An EOT file is listed first for Internet Explorer only. Current browsers skip it.
      if (/\.eot(?:[?#]|$)/i.test(address)) continue;
      references.push({ address, kind: "font", media: "" });
      font = allFonts ? "inside" : "done";
    } else if (address !== undefined && font === "no") references.push({ address, kind: "image", media: "" });
    if (references.length >= MAX_REFERENCES) break;
  }
  return references;
}

interface Token {
  readonly word: string;
  /** Address after @import or url(. */
  readonly address?: string | undefined;
  readonly conditions?: string | undefined;
}

/** Yields the tokens of a style sheet in order. Leaves out @import and url( without a usable address. */
function* findTokens(text: string): Generator<Token> {
  const word = new TextCursor(text, WORD);
  for (let found = word.next(); found !== null; found = word.next()) {
    const name = found[0].toLowerCase();
    if (name === "@namespace") word.take(NAMESPACE);
    else if (name === "@import" || name === "url(") {
      const [, double, single, bare, conditions] = word.take(name === "@import" ? IMPORT : URL_END) ?? [];
      const address = double ?? single ?? bare;
      if (address !== undefined) yield { word: name, address, conditions };
    } else yield { word: name };
  }
}

/** A position in a text that only moves forward. */
class TextCursor {
  readonly #text: string;
  readonly #word: RegExp;
  #at = 0;

  constructor(text: string, word: RegExp) {
    this.#text = text;
    this.#word = word;
  }

  /** Moves after the next word and returns it, or null if there is none. */
  next(): RegExpExecArray | null {
    this.#word.lastIndex = this.#at;
    const found = this.#word.exec(this.#text);
    this.#at = found === null ? this.#text.length : this.#word.lastIndex;
    return found;
  }

  /** Matches an expression at the current position and moves after the match. Returns null if it does not match. */
  take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text);
    if (found !== null) this.#at = expression.lastIndex;
    return found;
  }
}

/** Removes comments. A comment that is not closed runs to the end (CSS Syntax 3). */
function withoutComments(css: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let open = css.indexOf("/*"); open >= 0; open = css.indexOf("/*", at)) {
    parts.push(css.slice(at, open));
    const close = css.indexOf("*/", open + 2);
    if (close < 0) return parts.join(" ");
    at = close + 2;
  }
  return [...parts, css.slice(at)].join(" ");
}

/** Returns the media query after layer() and supports(). */
function parseMedia(conditions: string): string {
  return withoutSupports(conditions.replace(/\blayer(?:\([^)]*\))?/i, "")).trim();
}

function withoutSupports(conditions: string): string {
  const start = conditions.search(/\bsupports\(/i);
  const end = start === -1 ? -1 : conditions.indexOf(")", start);
  return end === -1 ? conditions : conditions.slice(0, start) + conditions.slice(end + 1);
}
