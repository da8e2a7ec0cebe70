import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from "domhandler";
import { Parser } from "htmlparser2";
import { HeadTracker, type HeadEnd } from "#probe-agent/analysis/html/head-end.ts";

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
