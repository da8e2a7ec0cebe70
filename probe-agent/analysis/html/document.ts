import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from "domhandler";
import { Parser } from "htmlparser2";
import { HeadTracker, type HeadEnd } from "#probe-agent/analysis/html/head-end.ts";

/** A parsed page and whether its tail was left out. */
export interface ParsedDocument {
  readonly root: Document;
  /** Elements seen. */
  readonly elements: number;
  /** Deepest nesting kept. */
  readonly depth: number;
  /** Some elements lay deeper than MAX_DEPTH and were put there as siblings, as browsers do. */
  readonly flattened: boolean;
  /** The page has more nodes than are kept. */
  readonly truncated: boolean;
  readonly headEnd: HeadEnd;
}

/** Nesting kept; Chromium and WebKit flatten at the same depth. Also bounds the parser's search for open elements. */
const MAX_DEPTH = 512;
/** Elements, texts and comments kept. */
const MAX_NODES = 300_000;
/** Attributes kept of one element. */
const MAX_ATTRIBUTES = 500;
/** Characters handed to the parser between two looks at the limits. */
const CHUNK = 16_384;

/** Builds the tree of a page of any quality within the limits. Positions are character offsets. */
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

/** A DOM builder that knows how much it holds. */
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
    // Where attributes beyond the limit ended up.
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

/** Treats elements that open too deep as void ones: they become siblings, and the stack of open elements stays short. */
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

/** Every element in document order; subtrees of `skip` elements are left out, the elements themselves not. */
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

/** The text below an element, white space collapsed, at most `limit` characters. */
export function textOf(element: Element, limit = 10_000): string {
  return rawTextOf(element, limit).replaceAll(/\s+/g, " ").trim();
}

/** What may still be spent on reading text: one for each node and each character. */
export interface TextBudget {
  left: number;
}

/** The text below an element as it stands (DOM textContent), at most `limit` characters and as far as `budget` goes. */
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
