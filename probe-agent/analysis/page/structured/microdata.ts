import { appendTo } from "#probe-agent/analysis/text/multi-map.ts";
import { isTag, type Document, type Element } from "domhandler";
import { resolveUrl } from "#probe-agent/analysis/http/address.ts";
import { rawTextOf, walkElements, type TextBudget } from "#probe-agent/analysis/html/document.ts";
import { INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import {
  MAX_VALUE_LENGTH,
  textBudget,
  attributeTokens,
  rawAttribute,
  type Found,
  type Located,
  type PageSize,
  type StructuredError,
  type StructuredItem,
  type StructuredValue,
} from "#probe-agent/analysis/page/structured/item.ts";

/**
 * Limits on element visits, items and nesting of a page. With itemref a page can demand any number of each. The limits
 * on visits and items grow with the page, so that the time spent on a small page is in proportion to its size.
 */
const MAX_VISITS = 600_000;
const MAX_ITEMS = 20_000;
const BASE_ALLOWANCE = 1000;
const VISITS_PER_ELEMENT = 16;
const ITEMS_PER_ELEMENT = 4;
const MAX_NESTING = 64;
const MAX_ERRORS = 200;

/** Elements whose property value is an address, with the attribute that holds it (WHATWG HTML, microdata, values). */
const ADDRESS_ATTRIBUTES = new Map([
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

/** Properties as search engines read them, for the items that they read differently from the standard. */
export type ItemContents = ReadonlyMap<StructuredItem, StructuredItem["properties"]>;

/** Microdata items, and the properties of those that search engines read differently from the standard. */
interface FoundMicrodata extends Found<StructuredItem> {
  readonly contents: ItemContents;
}

/**
 * Reads the top-level microdata items of a page with the algorithms of the HTML standard. `base` is the base address
 * that documentBase returns.
 */
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
    this.#maxVisits = Math.min(MAX_VISITS, BASE_ALLOWANCE + VISITS_PER_ELEMENT * size.elements);
    this.#maxItems = Math.min(MAX_ITEMS, BASE_ALLOWANCE + ITEMS_PER_ELEMENT * size.elements);
    this.#text = { left: textBudget(size) };
  }

  read(): FoundMicrodata {
    const items: Located<StructuredItem>[] = [];
    for (const element of walkElements(this.#root, INERT_ELEMENTS)) {
      if (!isItem(element) || rawAttribute(element, "itemprop") !== null) continue;
      items.push({ value: this.#item(element, [element]), offset: element.startIndex ?? 0 });
    }
    return { items, errors: [...this.#errors.values()], contents: this.#contents };
  }

  /** Reads an item (the standard's "get the object"). `memory`: the item and all around it, which ends loops. */
  #item(element: Element, memory: readonly Element[]): StructuredItem {
    this.#items += 1;
    const type = attributeTokens(element, "itemtype");
    const id = rawAttribute(element, "itemid");
    const address = id === null ? null : resolveUrl(id.trim(), this.#base);
    if (id !== null && type.length === 0) this.#error("itemid without itemtype", element);
    const properties = new Map<string, StructuredValue[]>();
    const searchEngineValues = new Map<string, StructuredValue[]>();
    let differs = false;
    for (const property of this.#propertiesOf(element)) {
      const value = this.#value(property, memory);
      if (value === null) continue;
      const content = contentAttribute(property);
      differs ||= content !== null;
      for (const name of attributeTokens(property, "itemprop")) {
        appendTo(properties, name, value);
        appendTo(searchEngineValues, name, content ?? value);
      }
    }
    const known = address === null || type.length === 0 ? {} : { id: address.href };
    const item = { type, ...known, properties: Object.fromEntries(properties) };
    if (differs) this.#contents.set(item, Object.fromEntries(searchEngineValues));
    return item;
  }

  /** Returns the elements with an item's properties, in tree order (the standard's "the properties of an item"). */
  #propertiesOf(item: Element): Element[] {
    const found: Element[] = [];
    const seen = new Set<Element>([item]);
    const referenced = attributeTokens(item, "itemref").flatMap((id) => this.#byId(id, item));
    const pending = this.#visits > this.#maxVisits ? [] : [...referenced.toReversed(), ...childrenOf(item)];
    for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
      this.#visits += 1;
      if (this.#visits > this.#maxVisits) {
        this.#reportLimit("elements", item);
        break;
      }
      if (seen.has(element)) {
        this.#error("an element that itemref includes twice or in a loop", element);
        continue;
      }
      seen.add(element);
      if (!isItem(element)) pending.push(...childrenOf(element));
      if (attributeTokens(element, "itemprop").length > 0) found.push(element);
    }
    return referenced.length === 0 ? found : found.toSorted((a, b) => (a.startIndex ?? 0) - (b.startIndex ?? 0));
  }

  #byId(id: string, item: Element): Element[] {
    this.#ids ??= idsOf(this.#root);
    const element = this.#ids.get(id);
    if (element === undefined) this.#error(`itemref names an id that no element has: ${quoteId(id)}`, item);
    return element === undefined ? [] : [element];
  }

  #value(element: Element, memory: readonly Element[]): StructuredValue | null {
    if (isItem(element)) {
      if (memory.includes(element)) {
        this.#error("an item that includes itself", element);
        return null;
      }
      if (memory.length >= MAX_NESTING || this.#items >= this.#maxItems) {
        this.#reportLimit("items", element);
        return null;
      }
      return this.#item(element, [...memory, element]);
    }
    const { name } = element;
    if (name === "meta") return rawAttribute(element, "content") ?? "";
    const attribute = ADDRESS_ATTRIBUTES.get(name);
    if (attribute !== undefined) {
      const address = rawAttribute(element, attribute);
      return address === null ? "" : (resolveUrl(address.trim(), this.#base)?.href ?? "");
    }
    if (name === "data" || name === "meter") return rawAttribute(element, "value") ?? "";
    return (name === "time" ? rawAttribute(element, "datetime") : null) ?? this.#textOf(element);
  }

  #textOf(element: Element): string {
    if (this.#text.left <= 0) this.#reportLimit("text", element);
    return rawTextOf(element, MAX_VALUE_LENGTH, this.#text);
  }

  /** Reports that our own limit is exceeded. Reported once per kind, regardless of other errors. */
  #reportLimit(what: string, element: Element): void {
    if (this.#exceeded.has(what)) return;
    this.#exceeded.add(what);
    this.#addError(`more ${what} than this tool reads`, element);
  }

  #error(message: string, element: Element): void {
    if (this.#errors.size < MAX_ERRORS) this.#addError(message, element);
  }

  #addError(message: string, element: Element): void {
    const position = element.startIndex ?? 0;
    this.#errors.set(`${position} ${message}`, { message: `Microdata: ${message}`, position });
  }
}

/** Elements whose value is in an attribute and not in their text. */
const VALUE_ATTRIBUTE_ELEMENTS = new Set(["meta", "data", "meter", "time"]);

/**
 * Returns the content attribute that search engines read instead of the text of an element. The standard has it for
 * meta elements only. Returns null if the element has no such attribute, or if its value is not its text.
 */
function contentAttribute(element: Element): string | null {
  if (isItem(element) || VALUE_ATTRIBUTE_ELEMENTS.has(element.name) || ADDRESS_ATTRIBUTES.has(element.name))
    return null;
  return rawAttribute(element, "content")?.slice(0, MAX_VALUE_LENGTH) ?? null;
}

function isItem(element: Element): boolean {
  return Object.hasOwn(element.attribs, "itemscope");
}

/** Returns child elements in reverse order: popped from a stack they are in document order. */
function childrenOf(element: Element): Element[] {
  if (INERT_ELEMENTS.has(element.name)) return [];
  return element.children.filter((child) => isTag(child)).toReversed();
}

function idsOf(root: Document): Map<string, Element> {
  const ids = new Map<string, Element>();
  for (const element of walkElements(root, INERT_ELEMENTS)) {
    const id = rawAttribute(element, "id");
    if (id !== null && id !== "" && !ids.has(id)) ids.set(id, element);
  }
  return ids;
}

function quoteId(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
