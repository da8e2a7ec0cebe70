import { isTag, isText, type Document, type Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import type { AttributeTest, ComplexSelector, Compound, Selector } from "#probe-agent/analysis/page/tech/selector.ts";

/** Content of a template is no part of the page. */
const SKIPPED = new Set(["template"]);

/** The elements of a page, found by selector; the smallest set that can fit is searched. */
export class Elements {
  readonly #all: Element[] = [];
  readonly #byTag = new Map<string, Element[]>();
  readonly #byId = new Map<string, Element[]>();
  readonly #byClass = new Map<string, Element[]>();
  readonly #byAttribute = new Map<string, Element[]>();

  constructor(root: Document) {
    for (const element of walkElements(root, SKIPPED)) {
      this.#all.push(element);
      add(this.#byTag, element.name, element);
      for (const name in element.attribs) add(this.#byAttribute, name, element);
      const { id, class: classes } = element.attribs;
      if (id !== undefined) add(this.#byId, id, element);
      if (classes !== undefined) for (const one of new Set(words(classes))) add(this.#byClass, one, element);
    }
  }

  /** The first elements that fit, at most `limit`; an element that fits several parts of the list may come twice. */
  find(selector: Selector, limit: number): Element[] {
    const found: Element[] = [];
    for (const complex of selector) {
      for (const element of this.#candidates(complex.subject)) {
        if (found.length >= limit) return found;
        if (fits(element, complex)) found.push(element);
      }
    }
    return found;
  }

  #candidates({ tag, attributes }: Compound): readonly Element[] {
    let best: readonly Element[] = tag === null ? this.#all : (this.#byTag.get(tag) ?? []);
    for (const { name, operator, value, ignoreCase } of attributes) {
      const exact =
        name === "id" && operator === "=" ? this.#byId : name === "class" && operator === "~=" ? this.#byClass : null;
      const index = exact === null || ignoreCase ? this.#byAttribute.get(name) : exact.get(value);
      const some = index ?? [];
      if (some.length < best.length) best = some;
    }
    return best;
  }
}

function add(index: Map<string, Element[]>, key: string, element: Element): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [element]);
  else list.push(element);
}

function words(text: string): string[] {
  return text.split(/[ \t\n\f\r]+/).filter((word) => word !== "");
}

function fits(element: Element, { subject, above }: ComplexSelector): boolean {
  return fitsCompound(element, subject) && fitsAbove(element, above, 0);
}

function fitsAbove(element: Element, above: ComplexSelector["above"], at: number): boolean {
  const step = above[at];
  if (step === undefined) return true;
  const { combinator, compound } = step;
  const next = combinator === ">" || combinator === " " ? parentOf : previousOf;
  const once = combinator === ">" || combinator === "+";
  for (let other = next(element); other !== null; other = once ? null : next(other)) {
    if (fitsCompound(other, compound) && fitsAbove(other, above, at + 1)) return true;
  }
  return false;
}

function parentOf({ parent }: Element): Element | null {
  return parent !== null && isTag(parent) ? parent : null;
}

function previousOf(element: Element): Element | null {
  let node = element.previousSibling;
  while (node !== null && !isTag(node)) node = node.previousSibling;
  return node;
}

function nextOf(element: Element): Element | null {
  let node = element.nextSibling;
  while (node !== null && !isTag(node)) node = node.nextSibling;
  return node;
}

function fitsCompound(element: Element, { tag, attributes, not, place }: Compound): boolean {
  if (tag !== null && element.name !== tag) return false;
  for (const test of attributes) if (!fitsAttribute(element, test)) return false;
  for (const compound of not) if (fitsCompound(element, compound)) return false;
  for (const one of place) if (!standsAt(element, one)) return false;
  return true;
}

function standsAt(element: Element, place: Compound["place"][number]): boolean {
  if (place === "root") return parentOf(element) === null;
  if (place === "empty") return !element.children.some((child) => isTag(child) || isText(child));
  const first = place === "last-child" || previousOf(element) === null;
  const last = place === "first-child" || nextOf(element) === null;
  return first && last;
}

function fitsAttribute(element: Element, { name, operator, value, ignoreCase }: AttributeTest): boolean {
  if (!Object.hasOwn(element.attribs, name)) return false;
  if (operator === "exists") return true;
  const given = element.attribs[name] ?? "";
  const text = ignoreCase ? given.toLowerCase() : given;
  if (operator === "=") return text === value;
  if (operator === "|=") return text === value || text.startsWith(`${value}-`);
  // An empty value fits nothing (Selectors Level 4, section 6.2).
  if (value === "") return false;
  if (operator === "~=") return text.includes(value) && words(text).includes(value);
  if (operator === "^=") return text.startsWith(value);
  return operator === "$=" ? text.endsWith(value) : text.includes(value);
}
