import { appendTo } from "#probe-agent/analysis/text/multi-map.ts";
import type { Document, Element } from "domhandler";
import { walkElements } from "#probe-agent/analysis/html/document.ts";
import type { Selector, SelectorKey } from "#probe-agent/analysis/page/tech/selector.ts";

/** Elements whose content is not part of the page. */
const SKIPPED = new Set(["template"]);

/** Index of a page's elements. A selector is tested only on the smallest set of elements that can match. */
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
      appendTo(tag, element.name, element);
      for (const name in element.attribs) appendTo(attribute, name, element);
      const { id: ownId, class: ownClasses } = element.attribs;
      if (ownId !== undefined) appendTo(id, ownId, element);
      if (ownClasses !== undefined)
        for (const one of new Set(splitClasses(ownClasses))) appendTo(classes, one, element);
    }
  }

  /**
   * Returns the first matching elements, up to `limit`. An element that matches several selectors of the list can be
   * returned more than once.
   */
  find(selector: Selector, limit: number): Element[] {
    const found: Element[] = [];
    for (const { keys, matches } of selector) {
      for (const element of this.#candidates(keys)) {
        if (found.length >= limit) return found;
        if (matches(element)) found.push(element);
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

function splitClasses(text: string): string[] {
  return text.split(/[ \t\n\f\r]+/).filter((word) => word !== "");
}
