/** What ends the head of a page, and where. */
export interface HeadEnd {
  /** Characters from the start of the page; what begins here or later is in the body. The page's length without an end. */
  readonly offset: number;
  /** What ends it: a tag, e.g. "<div>", or "text"; null where nothing does. */
  readonly by: string | null;
  /** It ends where it should: at the body, a frameset, or the end of either. */
  readonly regular: boolean;
  /**
   * What ends it earlier for readers that run no scripts, and therefore read the content of noscript: browsers without
   * scripts, and crawlers that do not render. Null where nothing does.
   */
  readonly withoutScripts: { readonly offset: number; readonly by: string } | null;
}

/** Elements that belong in a head (WHATWG HTML, the "in head" insertion mode). */
const IN_HEAD = new Set("base basefont bgsound link meta noframes noscript script style template title".split(" "));
/** Their like that may still come behind the head's end tag, and are put into the head (the "after head" mode). */
const AFTER_HEAD = new Set([...IN_HEAD].filter((name) => name !== "noscript"));
/** Those whose content is no part of the head. */
const CLOSED = new Set("noframes noscript script style template title".split(" "));
/** What a noscript of the head may hold where scripts do not run (the "in head noscript" mode), besides itself. */
const IN_NOSCRIPT = new Set([...IN_HEAD, "head"]);
const REGULAR = new Set(["<body>", "<frameset>", "</body>", "</html>"]);
/** HTML's white space; others, e.g. a byte order mark in the middle of a page, are text. */
const BLANK = new Set(["\t", "\n", "\f", "\r", " "]);

/**
 * Finds the end of a head from the tokens of a page, by the tree construction of WHATWG HTML (section 13.2.6.4, from
 * "before head" to "after head"). An element that is not allowed in a head ends it, and all that follows is in the body.
 */
export class HeadTracker {
  #end: { offset: number; by: string } | null = null;
  #withoutScripts: { offset: number; by: string } | null = null;
  #afterHead = false;
  /** The element whose content is passed over, and how often it is open. */
  #within: string | null = null;
  #depth = 0;
  /** An element within noscript whose content is passed over in turn, e.g. a style. */
  #inner: string | null = null;

  /** Nothing that follows changes the answer. */
  get ended(): boolean {
    return this.#end !== null;
  }

  /** A start tag as written; `name` in lower case. */
  startTag(name: string, offset: number): void {
    if (this.#end !== null || this.#passesOver(name, offset)) return;
    if (name === "html" || name === "head") return;
    if (!(this.#afterHead ? AFTER_HEAD : IN_HEAD).has(name)) this.#end = { offset, by: `<${name}>` };
    else if (CLOSED.has(name)) {
      this.#within = name;
      this.#depth = 1;
    }
  }

  /** An end tag as written, whether or not it closes anything. */
  endTag(name: string, offset: number): void {
    if (this.#end !== null) return;
    if (this.#within !== null) {
      if (name === this.#inner) this.#inner = null;
      if (name === this.#within) this.#depth -= 1;
      if (this.#depth === 0) this.#within = null;
    } else if (name === "head") this.#afterHead = true;
    else if (name === "body" || name === "html" || name === "br") this.#end = { offset, by: `</${name}>` };
  }

  /** Text between tags. */
  text(data: string, offset: number): void {
    if (this.#end !== null) return;
    let at = 0;
    while (at < data.length && BLANK.has(data.charAt(at))) at += 1;
    if (at === data.length) return;
    if (this.#within === null) this.#end = { offset: offset + at, by: "text" };
    else if (this.#within === "noscript" && this.#inner === null) {
      this.#withoutScripts ??= { offset: offset + at, by: "text" };
    }
  }

  /** The answer, once the page is read. `length`: its characters. */
  result(length: number): HeadEnd {
    const { offset, by } = this.#end ?? { offset: length, by: null };
    return { offset, by, regular: by === null || REGULAR.has(by), withoutScripts: this.#withoutScripts };
  }

  #passesOver(name: string, offset: number): boolean {
    if (this.#within === null) return false;
    if (this.#within === "template" && name === "template") this.#depth += 1;
    if (this.#within !== "noscript" || this.#inner !== null) return true;
    if (!IN_NOSCRIPT.has(name)) this.#withoutScripts ??= { offset, by: `<${name}>` };
    else if (CLOSED.has(name) && name !== "noscript") this.#inner = name;
    return true;
  }
}
