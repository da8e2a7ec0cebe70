/** Position and cause of the end of a page's head. */
export interface HeadEnd {
  /**
   * Character offset of the end. Everything from here on is in the body. The length of the page if nothing ends the
   * head.
   */
  readonly offset: number;
  /** Cause of the end: a tag, e.g. "<div>", or "text". null if nothing ends the head. */
  readonly by: string | null;
  /** Whether the head ends in a regular place: at the body, a frameset, or the end of the body or page. */
  readonly regular: boolean;
  /**
   * Earlier end for readers that run no scripts and therefore read the content of noscript: browsers without scripts,
   * and crawlers that do not render. null if there is none.
   */
  readonly withoutScripts: { readonly offset: number; readonly by: string } | null;
}

/** Elements allowed in a head (WHATWG HTML, the "in head" insertion mode). */
const IN_HEAD = new Set("base basefont bgsound link meta noframes noscript script style template title".split(" "));
/** Elements that parsers move into the head if they follow its end tag (the "after head" mode). */
const AFTER_HEAD = new Set([...IN_HEAD].filter((name) => name !== "noscript"));
/** Elements whose content is not part of the head. */
const CLOSED = new Set("noframes noscript script style template title".split(" "));
/** Elements allowed in a noscript of the head if scripts do not run (the "in head noscript" mode). */
const IN_NOSCRIPT = new Set([...IN_HEAD, "head"]);
const REGULAR = new Set(["<body>", "<frameset>", "</body>", "</html>"]);
/** White space of HTML. Other characters, e.g. a byte order mark in the middle of a page, are text. */
const BLANK = new Set(["\t", "\n", "\f", "\r", " "]);

/**
 * Finds the end of a head from the tokens of a page, by the tree construction of WHATWG HTML (section 13.2.6.4, from
 * "before head" to "after head"). An element that is not allowed in a head ends it. Everything after it is in the body.
 */
export class HeadTracker {
  #end: { offset: number; by: string } | null = null;
  #withoutScripts: { offset: number; by: string } | null = null;
  #afterHead = false;
  /** Element whose content is skipped, and how many of it are open. */
  #within: string | null = null;
  #depth = 0;
  /** Element within noscript whose content is also skipped, e.g. a style. */
  #inner: string | null = null;

  /** Whether the head has ended, so that further tokens do not change the result. */
  get ended(): boolean {
    return this.#end !== null;
  }

  /** Processes a start tag. `name` is in lower case. */
  startTag(name: string, offset: number): void {
    if (this.#end !== null || this.#skips(name, offset)) return;
    if (name === "html" || name === "head") return;
    if (!(this.#afterHead ? AFTER_HEAD : IN_HEAD).has(name)) this.#end = { offset, by: `<${name}>` };
    else if (CLOSED.has(name)) {
      this.#within = name;
      this.#depth = 1;
    }
  }

  /** Processes an end tag, whether or not it closes an element. */
  endTag(name: string, offset: number): void {
    if (this.#end !== null) return;
    if (this.#within !== null) {
      if (name === this.#inner) this.#inner = null;
      if (name === this.#within) this.#depth -= 1;
      if (this.#depth === 0) this.#within = null;
    } else if (name === "head") this.#afterHead = true;
    else if (name === "body" || name === "html" || name === "br") this.#end = { offset, by: `</${name}>` };
  }

  /** Processes text between tags. */
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

  /** Returns the end of the head after the page is parsed. `length` is the page's length in characters. */
  result(length: number): HeadEnd {
    const { offset, by } = this.#end ?? { offset: length, by: null };
    return { offset, by, regular: by === null || REGULAR.has(by), withoutScripts: this.#withoutScripts };
  }

  #skips(name: string, offset: number): boolean {
    if (this.#within === null) return false;
    if (this.#within === "template" && name === "template") this.#depth += 1;
    if (this.#within !== "noscript" || this.#inner !== null) return true;
    if (!IN_NOSCRIPT.has(name)) this.#withoutScripts ??= { offset, by: `<${name}>` };
    else if (CLOSED.has(name) && name !== "noscript") this.#inner = name;
    return true;
  }
}
