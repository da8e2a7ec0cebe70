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

/** An item under construction. Any element that names the address of an item can add properties to it. */
interface Subject {
  readonly item: { readonly type: string[]; readonly id?: string; properties: Record<string, StructuredValue[]> };
  readonly properties: Map<string, StructuredValue[]>;
  /** Whether the item is in the result already, at the top level or as a value. */
  placed: boolean;
}

/** State that an element passes to its children. */
interface Context {
  readonly vocabulary: Vocabulary;
  /** Returns the item that properties belong to. Creates it at the first call only. */
  readonly subject: () => Subject;
}

const MAX_SUBJECTS = 20_000;
const MAX_ERRORS = 200;
const NO_ITEMS: Found<StructuredItem> = { items: [], errors: [] };

/**
 * Reads the typed items of a page in RDFa Lite 1.1 (vocab, typeof, property, resource, prefix), with `about`, `content`
 * and `datatype` of RDFa 1.1 Core. Follows the processing sequence of RDFa 1.1 Core (section 7.5), without rel and rev.
 * An item that begins at a property is the value of that property. Other references to the item become its address, so
 * that no item can contain itself.
 */
export function readRdfa(root: Document, base: string, size: PageSize): Found<StructuredItem> {
  return new RdfaReader(base, size).read(root);
}

class RdfaReader {
  readonly #base: string;
  readonly #errors: StructuredError[] = [];
  readonly #byAddress = new Map<string, Subject>();
  readonly #all: Subject[] = [];
  readonly #top: Located<StructuredItem>[] = [];
  readonly #text: TextBudget;

  constructor(base: string, size: PageSize) {
    this.#base = base;
    this.#text = { left: textBudget(size) };
  }

  read(root: Document): Found<StructuredItem> {
    // Most pages have no typed item: then the links of the page are not read.
    if (!walkElements(root, INERT_ELEMENTS).some(({ attribs }) => Object.hasOwn(attribs, "typeof"))) return NO_ITEMS;
    const page = newSubject(null);
    this.#children(root, { vocabulary: INITIAL_VOCABULARY, subject: () => page });
    for (const { item, properties } of this.#all) item.properties = Object.fromEntries(properties);
    return { items: this.#top, errors: this.#errors };
  }

  #children(parent: Document | Element, context: Context): void {
    for (const child of parent.children) {
      if (isTag(child) && !INERT_ELEMENTS.has(child.name)) this.#element(child, context);
    }
  }

  #element(element: Element, outer: Context): void {
    const has = (name: string): boolean => Object.hasOwn(element.attribs, name);
    const declares = has("vocab") || has("prefix");
    const vocabulary = declares
      ? withDeclarations(outer.vocabulary, trimmedAttribute(element, "vocab"), rawAttribute(element, "prefix"))
      : outer.vocabulary;
    const names = has("property") ? attributeTokens(element, "property") : [];
    const literal = has("content") || has("datatype");
    const about = this.#address(element, ["about"]);
    const object = this.#address(element, ["resource", "href", "src"]);
    let { subject } = outer;
    let inner = outer.subject;
    if (names.length > 0 && !literal) {
      if (about !== null) subject = this.#subjectAt(about);
      inner = has("typeof") ? this.#subjectAt(about ?? object) : subject;
    } else if (about !== null || object !== null || has("typeof")) {
      subject = this.#subjectAt(about ?? object);
      inner = subject;
    }
    const typed = has("typeof") ? inner() : null;
    const isNew = typed !== null && !typed.placed && typed.properties.size === 0;
    if (typed !== null) this.#types(element, typed, vocabulary);
    const known = names.map((word) => propertyName(word, vocabulary)).filter((name) => name !== null);
    // Only an item that is in the result can hold another: the item of the page itself is not in the result.
    const nested = isNew && typed.item.type.length > 0 && known.length > 0 && subject() !== typed && subject().placed;
    if (known.length > 0) addValue(subject(), known, nested ? typed.item : this.#value(element, object, literal));
    if (typed !== null && !typed.placed && typed.item.type.length > 0) {
      typed.placed = true;
      if (!nested) this.#top.push({ value: typed.item, offset: element.startIndex ?? 0 });
    }
    this.#children(element, { vocabulary, subject: inner });
  }

  #types(element: Element, { item }: Subject, vocabulary: Vocabulary): void {
    for (const word of attributeTokens(element, "typeof")) {
      const type = expandName(word, vocabulary);
      if (type === null) this.#error(`typeof ${JSON.stringify(word.slice(0, 100))}: no vocabulary is set`, element);
      else if (!item.type.includes(type)) item.type.push(type);
    }
  }

  /** Returns the value of a property (RDFa 1.1 Core 7.5 step 11; datetime: HTML+RDFa 1.1 section 3.1). */
  #value(element: Element, object: string | null, literal: boolean): string {
    const content = rawAttribute(element, "content");
    if (content !== null) return content;
    const datetime = element.name === "time" ? rawAttribute(element, "datetime") : null;
    if (datetime !== null) return datetime;
    if (object !== null && !literal) return object;
    if (this.#text.left <= 0) this.#error("more text than this tool reads", element);
    return rawTextOf(element, MAX_VALUE_LENGTH, this.#text);
  }

  /** Returns a function that gives the item with the address, and makes it if needed. null: a new item without one. */
  #subjectAt(address: string | null): () => Subject {
    let made: Subject | undefined;
    return () => (made ??= (address === null ? undefined : this.#byAddress.get(address)) ?? this.#newSubject(address));
  }

  #newSubject(address: string | null): Subject {
    const subject = newSubject(address);
    // Items beyond the limit are read but are not in the result.
    if (this.#all.length >= MAX_SUBJECTS) return { ...subject, placed: true };
    this.#all.push(subject);
    if (address !== null) this.#byAddress.set(address, subject);
    return subject;
  }

  #address(element: Element, names: readonly string[]): string | null {
    for (const name of names) {
      const written = trimmedAttribute(element, name);
      if (written === null) continue;
      if (written.startsWith("_:")) return written;
      const url = resolveUrl(written, this.#base);
      if (url !== null) return url.href;
    }
    return null;
  }

  #error(message: string, element: Element): void {
    if (this.#errors.length >= MAX_ERRORS) return;
    this.#errors.push({ message: `RDFa: ${message}`, position: element.startIndex ?? 0 });
  }
}

function newSubject(id: string | null): Subject {
  return { item: { type: [], ...(id === null ? {} : { id }), properties: {} }, properties: new Map(), placed: false };
}

function addValue({ properties }: Subject, names: readonly string[], value: StructuredValue): void {
  for (const name of names) appendTo(properties, name, value);
}

function trimmedAttribute(element: Element, name: string): string | null {
  return rawAttribute(element, name)?.trim() ?? null;
}

/** Vocabulary and prefixes in scope at an element. They give names their meaning. */
interface Vocabulary {
  /** Address of the vocabulary of names without a prefix; null if no vocabulary is set. */
  readonly vocab: string | null;
  /** Namespace addresses, keyed by prefix in lower case. */
  readonly prefixes: ReadonlyMap<string, string>;
}

/** Prefixes of the RDFa initial context that pages use undeclared (W3C, www.w3.org/2011/rdfa-context/rdfa-1.1). */
const INITIAL_VOCABULARY: Vocabulary = {
  vocab: null,
  prefixes: new Map([
    ["schema", "http://schema.org/"],
    ["og", "http://ogp.me/ns#"],
    ["foaf", "http://xmlns.com/foaf/0.1/"],
    ["dc", "http://purl.org/dc/terms/"],
    ["dcterms", "http://purl.org/dc/terms/"],
    ["gr", "http://purl.org/goodrelations/v1#"],
    ["v", "http://rdf.data-vocabulary.org/#"],
    ["vcard", "http://www.w3.org/2006/vcard/ns#"],
    ["sioc", "http://rdfs.org/sioc/ns#"],
    ["skos", "http://www.w3.org/2004/02/skos/core#"],
    ["rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"],
    ["rdfs", "http://www.w3.org/2000/01/rdf-schema#"],
    ["cc", "http://creativecommons.org/ns#"],
  ]),
};

const SCHEMA_ORG = /^https?:\/\/(?:www\.)?schema\.org\//i;
const MAX_PREFIXES = 100;

/**
 * Returns the vocabulary in scope inside an element, given its vocab and prefix attributes (RDFa 1.1 Core 7.5, steps 2
 * and 3). null means that the attribute is absent.
 */
function withDeclarations(outer: Vocabulary, vocab: string | null, prefix: string | null): Vocabulary {
  if (vocab === null && prefix === null) return outer;
  const prefixes = new Map(outer.prefixes);
  const words = (prefix ?? "").split(/\s+/).filter((word) => word !== "");
  for (let at = 0; at + 1 < words.length && prefixes.size < MAX_PREFIXES; at += 2) {
    const name = words[at] ?? "";
    if (name.endsWith(":")) prefixes.set(name.slice(0, -1).toLowerCase(), words[at + 1] ?? "");
  }
  // An empty vocab attribute resets the vocabulary.
  return { vocab: vocab === null ? outer.vocab : vocab === "" ? null : vocab, prefixes };
}

/**
 * Returns the full address of a name: a term, prefix:name or an absolute address. Returns null for a term without a
 * vocabulary, and for a name that is no address.
 */
function expandName(word: string, { vocab, prefixes }: Vocabulary): string | null {
  const colon = word.indexOf(":");
  if (colon === -1) return vocab === null ? null : `${vocab}${word}`;
  const namespace = prefixes.get(word.slice(0, colon).toLowerCase());
  if (namespace !== undefined && !word.startsWith("//", colon + 1)) return `${namespace}${word.slice(colon + 1)}`;
  return URL.canParse(word) ? word : null;
}

/**
 * Returns the name of a property for a result: a term unchanged, a schema.org name without its address, and any other
 * name as its full address. Returns null if the name has no meaning.
 */
function propertyName(word: string, vocabulary: Vocabulary): string | null {
  const full = expandName(word, vocabulary);
  if (full === null) return null;
  return word.includes(":") ? full.replace(SCHEMA_ORG, "") : word;
}
