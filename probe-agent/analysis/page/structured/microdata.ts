import { isTag, type Document, type Element } from "domhandler";
import { resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { rawTextOf, walkElements, type TextBudget } from "#probe-agent/analysis/html/document.ts";
import { INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import {
  MAX_VALUE_LENGTH,
  textBudget,
  wordsOf,
  writtenAttribute,
  type Found,
  type Located,
  type PageSize,
  type StructuredError,
  type StructuredItem,
  type StructuredValue,
} from "#probe-agent/analysis/page/structured/item.ts";

/**
 * Element visits, items and nesting spent on a page: itemref can ask for any amount of each. Visits and items grow with
 * the page, so that a small one takes no longer than its size lets expect.
 */
const MAX_VISITS = 600_000;
const MAX_ITEMS = 20_000;
const LEAST = 1000;
const VISITS_PER_ELEMENT = 16;
const ITEMS_PER_ELEMENT = 4;
const MAX_NESTING = 64;
const MAX_ERRORS = 200;

/** Elements whose property is an address, with its attribute (WHATWG HTML, microdata, values). */
const ADDRESSES = new Map([
  ["audio", "src"],
  ["embed", "src"],
  ["iframe", "src"],
  ["img", "src"],
  ["source", "src"],
  ["track", "src"],
  ["video", "src"],
  ["a", "href"],
  ["area", "href"],
  ["link", "href"],
  ["object", "data"],
]);

/** Properties of items as search engines take them, where that is not what the standard says. */
export type ItemContents = ReadonlyMap<StructuredItem, StructuredItem["properties"]>;

/** Items, and what their properties are read as beyond the standard. */
interface FoundMicrodata extends Found<StructuredItem> {
  readonly contents: ItemContents;
}

/** The top-level microdata items of a page, by the algorithms of the HTML standard. `base` as documentBase gives it. */
export function readMicrodata(root: Document, base: string, size: PageSize): FoundMicrodata {
  return new MicrodataReader(root, base, size).read();
}

class MicrodataReader {
  readonly #root: Document;
  readonly #base: string;
  readonly #errors = new Map<string, StructuredError>();
  readonly #exceeded = new Set<string>();
  readonly #contents = new Map<StructuredItem, StructuredItem["properties"]>();
  #ids: Map<string, Element> | null = null;
  #visits = 0;
  #items = 0;
  readonly #maxVisits: number;
  readonly #maxItems: number;
  readonly #text: TextBudget;

  constructor(root: Document, base: string, size: PageSize) {
    this.#root = root;
    this.#base = base;
    this.#maxVisits = Math.min(MAX_VISITS, LEAST + VISITS_PER_ELEMENT * size.elements);
    this.#maxItems = Math.min(MAX_ITEMS, LEAST + ITEMS_PER_ELEMENT * size.elements);
    this.#text = { left: textBudget(size) };
  }

  read(): FoundMicrodata {
    const items: Located<StructuredItem>[] = [];
    for (const element of walkElements(this.#root, INERT_ELEMENTS)) {
      if (!isItem(element) || writtenAttribute(element, "itemprop") !== null) continue;
      items.push({ value: this.#item(element, [element]), offset: element.startIndex ?? 0 });
    }
    return { items, errors: [...this.#errors.values()], contents: this.#contents };
  }

  /** `memory`: the item and those around it, so that loops end (the standard's "get the object"). */
  #item(element: Element, memory: readonly Element[]): StructuredItem {
    this.#items += 1;
    const type = wordsOf(element, "itemtype");
    const id = writtenAttribute(element, "itemid");
    const address = id === null ? null : resolveUrl(id.trim(), this.#base);
    if (id !== null && type.length === 0) this.#error("itemid without itemtype", element);
    const properties = new Map<string, StructuredValue[]>();
    const read = new Map<string, StructuredValue[]>();
    let differs = false;
    for (const property of this.#propertiesOf(element)) {
      const value = this.#value(property, memory);
      if (value === null) continue;
      const content = contentOf(property);
      differs ||= content !== null;
      for (const name of wordsOf(property, "itemprop")) {
        append(properties, name, value);
        append(read, name, content ?? value);
      }
    }
    const known = address === null || type.length === 0 ? {} : { id: address.href };
    const item = { type, ...known, properties: Object.fromEntries(properties) };
    if (differs) this.#contents.set(item, Object.fromEntries(read));
    return item;
  }

  /** The elements that give an item its properties, in tree order (the standard's "the properties of an item"). */
  #propertiesOf(item: Element): Element[] {
    const found: Element[] = [];
    const seen = new Set<Element>([item]);
    const referenced = wordsOf(item, "itemref").flatMap((id) => this.#byId(id, item));
    const pending = this.#visits > this.#maxVisits ? [] : [...referenced.toReversed(), ...childrenOf(item)];
    for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
      this.#visits += 1;
      if (this.#visits > this.#maxVisits) {
        this.#exceed("elements", item);
        break;
      }
      if (seen.has(element)) {
        this.#error("an element that itemref includes twice or in a circle", element);
        continue;
      }
      seen.add(element);
      if (!isItem(element)) pending.push(...childrenOf(element));
      if (wordsOf(element, "itemprop").length > 0) found.push(element);
    }
    return referenced.length === 0 ? found : found.toSorted((a, b) => (a.startIndex ?? 0) - (b.startIndex ?? 0));
  }

  #byId(id: string, item: Element): Element[] {
    this.#ids ??= idsOf(this.#root);
    const element = this.#ids.get(id);
    if (element === undefined) this.#error(`itemref names an id that is not there: ${shown(id)}`, item);
    return element === undefined ? [] : [element];
  }

  #value(element: Element, memory: readonly Element[]): StructuredValue | null {
    if (isItem(element)) {
      if (memory.includes(element)) {
        this.#error("an item that includes itself", element);
        return null;
      }
      if (memory.length >= MAX_NESTING || this.#items >= this.#maxItems) {
        this.#exceed("items", element);
        return null;
      }
      return this.#item(element, [...memory, element]);
    }
    const { name } = element;
    if (name === "meta") return writtenAttribute(element, "content") ?? "";
    const attribute = ADDRESSES.get(name);
    if (attribute !== undefined) {
      const address = writtenAttribute(element, attribute);
      return address === null ? "" : (resolveUrl(address.trim(), this.#base)?.href ?? "");
    }
    if (name === "data" || name === "meter") return writtenAttribute(element, "value") ?? "";
    return (name === "time" ? writtenAttribute(element, "datetime") : null) ?? this.#textOf(element);
  }

  #textOf(element: Element): string {
    if (this.#text.left <= 0) this.#exceed("text", element);
    return rawTextOf(element, MAX_VALUE_LENGTH, this.#text);
  }

  /** A limit of ours: said once, whatever else is wrong. */
  #exceed(what: string, element: Element): void {
    if (this.#exceeded.has(what)) return;
    this.#exceeded.add(what);
    this.#keep(`there is more (${what}) than is looked at`, element);
  }

  #error(message: string, element: Element): void {
    if (this.#errors.size < MAX_ERRORS) this.#keep(message, element);
  }

  #keep(message: string, element: Element): void {
    const position = element.startIndex ?? 0;
    this.#errors.set(`${position} ${message}`, { message: `Microdata: ${message}`, position });
  }
}

/** Elements whose value is not their text have an attribute of their own for it. */
const OWN_ATTRIBUTE = new Set(["meta", "data", "meter", "time"]);

/** What search engines read in the place of an element's text; the standard knows it of meta elements only. */
function contentOf(element: Element): string | null {
  if (isItem(element) || OWN_ATTRIBUTE.has(element.name) || ADDRESSES.has(element.name)) return null;
  return writtenAttribute(element, "content")?.slice(0, MAX_VALUE_LENGTH) ?? null;
}

function append(properties: Map<string, StructuredValue[]>, name: string, value: StructuredValue): void {
  const values = properties.get(name);
  if (values === undefined) properties.set(name, [value]);
  else values.push(value);
}

function isItem(element: Element): boolean {
  return Object.hasOwn(element.attribs, "itemscope");
}

/** Child elements, last first: a stack hands them out in document order. */
function childrenOf(element: Element): Element[] {
  if (INERT_ELEMENTS.has(element.name)) return [];
  return element.children.filter((child) => isTag(child)).toReversed();
}

function idsOf(root: Document): Map<string, Element> {
  const ids = new Map<string, Element>();
  for (const element of walkElements(root, INERT_ELEMENTS)) {
    const id = writtenAttribute(element, "id");
    if (id !== null && id !== "" && !ids.has(id)) ids.set(id, element);
  }
  return ids;
}

function shown(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
