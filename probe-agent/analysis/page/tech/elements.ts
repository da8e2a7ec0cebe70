import type { Document, Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import type { Selector, SelectorKey } from "#probe-agent/analysis/page/tech/selector.ts";

/** Content of a template is no part of the page. */
const SKIPPED = new Set(["template"]);

/** The elements of a page, found by selector; the smallest set that can fit is searched. */
export class Elements {
  readonly #all: Element[] = [];
  readonly #by: Readonly<Record<SelectorKey["kind"], Map<string, Element[]>>> = {
    tag: new Map(),
    id: new Map(),
    class: new Map(),
    attribute: new Map(),
  };

  constructor(root: Document) {
    const { tag, id, class: classes, attribute } = this.#by;
    for (const element of walkElements(root, SKIPPED)) {
      this.#all.push(element);
      add(tag, element.name, element);
      for (const name in element.attribs) add(attribute, name, element);
      const { id: ownId, class: ownClasses } = element.attribs;
      if (ownId !== undefined) add(id, ownId, element);
      if (ownClasses !== undefined) for (const one of new Set(words(ownClasses))) add(classes, one, element);
    }
  }

  /** The first elements that fit, at most `limit`; an element that fits several parts of the list may come twice. */
  find(selector: Selector, limit: number): Element[] {
    const found: Element[] = [];
    for (const { keys, fits } of selector) {
      for (const element of this.#candidates(keys)) {
        if (found.length >= limit) return found;
        if (fits(element)) found.push(element);
      }
    }
    return found;
  }

  #candidates(keys: readonly SelectorKey[]): readonly Element[] {
    let best: readonly Element[] = this.#all;
    for (const { kind, name } of keys) {
      const some = this.#by[kind].get(name) ?? [];
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
