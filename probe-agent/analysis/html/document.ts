import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from "domhandler";
import { Parser } from "htmlparser2";

/** Position and cause of the end of a page's head. */
interface HeadEnd {
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
class HeadTracker {
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

/** A parsed page, and how far the limits cut it. */
export interface ParsedDocument {
  readonly root: Document;
  /** Number of elements. */
  readonly elements: number;
  /** Maximum nesting depth of the tree. */
  readonly depth: number;
  /** Whether elements were nested deeper than MAX_DEPTH and became siblings at that depth, as in browsers. */
  readonly flattened: boolean;
  /** Whether the page has more nodes than are kept. */
  readonly truncated: boolean;
  readonly headEnd: HeadEnd;
}

/** Maximum nesting depth, the same as in Chromium and WebKit. Also bounds the parser's search for open elements. */
const MAX_DEPTH = 512;
/** Maximum number of elements, texts and comments. */
const MAX_NODES = 300_000;
/** Maximum number of attributes of one element. */
const MAX_ATTRIBUTES = 500;
/** Number of characters parsed between two checks of the limits. */
const CHUNK = 16_384;

/** Parses any text as HTML within the limits. Positions are character offsets. */
export function parseDocument(html: string): ParsedDocument {
  const handler = new CountingHandler();
  const parser = new BoundedParser(handler, html);
  let at = 0;
  for (; at < html.length && handler.nodes < MAX_NODES; at += CHUNK) parser.write(html.slice(at, at + CHUNK));
  parser.end();
  return {
    root: handler.root,
    elements: handler.elements,
    depth: handler.deepest,
    flattened: parser.flattened,
    truncated: at < html.length,
    headEnd: parser.head.result(html.length),
  };
}

/** A DOM builder that counts nodes, elements and depth. */
class CountingHandler extends DomHandler {
  nodes = 0;
  elements = 0;
  depth = 0;
  deepest = 0;

  constructor() {
    super(undefined, { withStartIndices: true });
  }

  override onopentag(name: string, attributes: Record<string, string>): void {
    this.nodes += 1;
    this.elements += 1;
    this.depth += 1;
    this.deepest = Math.max(this.deepest, this.depth);
    // Attributes beyond the limit all have the empty name.
    delete attributes[""];
    super.onopentag(name, attributes);
  }

  override onclosetag(): void {
    this.depth = Math.max(0, this.depth - 1);
    super.onclosetag();
  }

  override ontext(data: string): void {
    this.nodes += 1;
    super.ontext(data);
  }

  override oncomment(data: string): void {
    this.nodes += 1;
    super.oncomment(data);
  }
}

/** A parser that treats elements beyond MAX_DEPTH as void, so they become siblings and the stack stays short. */
class BoundedParser extends Parser {
  flattened = false;
  readonly head = new HeadTracker();
  readonly #handler: CountingHandler;
  readonly #html: string;
  #tooDeep = false;
  #attributes = 0;

  constructor(handler: CountingHandler, html: string) {
    super(handler, { decodeEntities: true });
    this.#handler = handler;
    this.#html = html;
  }

  override ontext(start: number, endIndex: number): void {
    if (!this.head.ended) this.head.text(this.#html.slice(start, endIndex), start);
    super.ontext(start, endIndex);
  }

  override ontextentity(codePoint: number, endIndex: number): void {
    if (!this.head.ended) this.head.text(String.fromCodePoint(codePoint), endIndex - 1);
    super.ontextentity(codePoint, endIndex);
  }

  override onopentagname(start: number, endIndex: number): void {
    this.#tooDeep = this.#handler.depth >= MAX_DEPTH;
    this.#attributes = 0;
    this.flattened ||= this.#tooDeep;
    if (!this.head.ended) this.head.startTag(this.#nameAt(start, endIndex), start - 1);
    super.onopentagname(start, endIndex);
  }

  override onclosetag(start: number, endIndex: number): void {
    this.#tooDeep = false;
    if (!this.head.ended) this.head.endTag(this.#nameAt(start, endIndex), start - 2);
    super.onclosetag(start, endIndex);
  }

  #nameAt(start: number, endIndex: number): string {
    return this.#html.slice(start, Math.min(endIndex, start + 100)).toLowerCase();
  }

  override onattribname(start: number, endIndex: number): void {
    this.#attributes += 1;
    super.onattribname(start, this.#attributes > MAX_ATTRIBUTES ? start : endIndex);
  }

  protected override isVoidElement(name: string): boolean {
    return this.#tooDeep || super.isVoidElement(name);
  }
}

/** Yields every element in document order. Yields `skip` elements, but not the elements below them. */
export function* walkElements(root: Document | Element, skip: ReadonlySet<string> = new Set()): Generator<Element> {
  let node: ChildNode | null = root.firstChild;
  while (node !== null) {
    const element: Element | null = isTag(node) ? node : null;
    if (element !== null) yield element;
    if (element !== null && element.firstChild !== null && !skip.has(element.name)) {
      node = element.firstChild;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      const parent: Element | Document | null = node.parent as Element | Document | null;
      node = parent === null || parent === root ? null : (parent as Element);
    }
    node = node?.nextSibling ?? null;
  }
}

/** Returns the text below an element with collapsed white space, up to `limit` characters. */
export function textOf(element: Element, limit = 10_000): string {
  return rawTextOf(element, limit).replaceAll(/\s+/g, " ").trim();
}

/** Remaining budget for reading text. Each node and each character costs 1. */
export interface TextBudget {
  left: number;
}

/** Returns the unchanged text below an element (DOM textContent), up to `limit` characters and within `budget`. */
export function rawTextOf(element: Element, limit: number, budget: TextBudget = { left: Infinity }): string {
  const parts: string[] = [];
  let length = 0;
  const stack: ChildNode[] = element.firstChild === null ? [] : [element.firstChild];
  for (let node = stack.pop(); node !== undefined && length < limit && budget.left > 0; node = stack.pop()) {
    budget.left -= 1;
    if (node.nextSibling !== null) stack.push(node.nextSibling);
    if (isText(node)) {
      parts.push(node.data);
      length += node.data.length;
      budget.left -= node.data.length;
    } else if (isTag(node) && node.firstChild !== null) stack.push(node.firstChild);
  }
  return parts.join("").slice(0, limit);
}
