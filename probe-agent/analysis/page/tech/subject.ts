import { isTag, isText, type ChildNode, type Document, type Element } from "domhandler";
import { readHtml, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { type MetaTag, attribute } from "#probe-agent/analysis/html/page.ts";
import { parseAssets } from "#probe-agent/analysis/page/tech/asset.ts";
import { Assets } from "#probe-agent/analysis/page/tech/library.ts";
import type { LiteralIndex } from "#probe-agent/analysis/page/tech/literal-index.ts";
import type { NamedSource, PlainSource } from "#probe-agent/analysis/page/tech/rule.ts";
import { appendTo } from "#probe-agent/analysis/text/multi-map.ts";
import type { Selector, SelectorKey } from "#probe-agent/analysis/page/tech/selector.ts";

/** A fetched page. Plain data that can be sent to another thread. Further facts are read from the HTML. */
export interface TechPage {
  readonly url: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly cookies?: Readonly<Record<string, string>>;
  readonly html?: string;
  readonly robots?: string | null;
  /** Record data by type: MX, TXT, NS, SOA, CNAME. */
  readonly dns?: Readonly<Record<string, readonly string[]>>;
  /** Names of the certificate's issuer. */
  readonly certIssuer?: string | readonly string[] | null;
  /** Facts from a browser in addition to the HTML. */
  readonly metas?: readonly (readonly [name: string, content: string])[];
  readonly scriptSrc?: readonly string[];
  readonly scripts?: readonly string[];
  readonly css?: readonly string[];
  readonly text?: string;
  readonly xhr?: readonly string[];
}

/** A page prepared for rules: the texts of each source, cut to the length that is tested. */
export interface Subject {
  readonly plain: Readonly<Record<PlainSource, readonly string[]>>;
  /** Header and meta names in lower case, DNS types in capitals. */
  readonly named: Readonly<Record<NamedSource, ReadonlyMap<string, readonly string[]>>>;
  readonly elements: Elements;
  readonly assets: Assets;
  /** Reports whether one of the texts may occur in a source, ignoring case. The texts are in lower case. */
  mayContainAny(source: PlainSource, texts: readonly string[]): boolean;
}

/** Maximum lengths of each source and of one entry of a list, in characters, and maximum number of entries. */
const MAX_HTML = 1_000_000;
const MAX_TEXT = 300_000;
const MAX_SCRIPTS = 1_000_000;
const MAX_ENTRY = 8192;
const MAX_LISTED = 2000;

/** Prepares a page for rules. `index` holds the texts that they require. `parsed` is the page's parsed HTML. */
export function readSubject(page: TechPage, index: LiteralIndex, parsed: Page = readHtml(page.html ?? "")): Subject {
  const { document, facts, text } = parsed;
  const contents = readContents(document.root);
  const base = baseOf(page.url, facts.baseHref);
  const loaded = facts.links.filter(
    ({ rel, as }) => rel.includes("modulepreload") || (rel.includes("preload") && as === "script"),
  );
  const sources = [...contents.addresses, ...loaded.map(({ href }) => href)];
  const styles = facts.links
    .filter(({ rel, as }) => rel.includes("stylesheet") || (rel.includes("preload") && as === "style"))
    .flatMap(({ href }) => resolve(href, base))
    .slice(0, MAX_LISTED);
  const issuers = page.certIssuer ?? [];
  const plain: Subject["plain"] = {
    url: [page.url.slice(0, MAX_ENTRY)],
    html: [text.slice(0, MAX_HTML)],
    text: [contents.text, ...cut([page.text ?? ""], MAX_TEXT)],
    css: [...contents.css, ...cut(page.css, MAX_SCRIPTS)],
    script_src: [...new Set([...sources.flatMap((src) => resolve(src, base)), ...cut(page.scriptSrc)])].slice(
      0,
      MAX_LISTED,
    ),
    script: [...contents.scripts, ...cut(page.scripts, MAX_SCRIPTS)],
    robots: cut([page.robots ?? ""], MAX_TEXT),
    certificate_issuer: cut(typeof issuers === "string" ? [issuers] : issuers),
    xhr: cut(page.xhr),
  };
  return {
    plain,
    named: {
      header: group(page.headers ?? [], (name) => name.toLowerCase()),
      cookie: group(Object.entries(page.cookies ?? {}), (name) => name),
      meta: group([...facts.metas.flatMap(metaPairs), ...(page.metas ?? [])], (name) => name.toLowerCase()),
      dns: group(
        Object.entries(page.dns ?? {}).flatMap(([type, rows]) => rows.map((row) => [type, row] as const)),
        (type) => type.toUpperCase(),
      ),
    },
    elements: new Elements(document.root),
    assets: new Assets([
      ...plain.script_src.flatMap((address) => parseAssets("script", address)),
      ...styles.flatMap((address) => parseAssets("style", address)),
    ]),
    mayContainAny: createTextSearch(plain, index),
  };
}

/** Returns a function that searches each source once, when it is first needed. */
function createTextSearch(plain: Subject["plain"], index: LiteralIndex): Subject["mayContainAny"] {
  const searched = new Map<PlainSource, (text: string) => boolean>();
  return (source, texts) => {
    if (!texts.every((text) => index.includes(text))) return true;
    let found = searched.get(source);
    if (found === undefined) {
      found = index.search(plain[source]);
      searched.set(source, found);
    }
    return texts.some(found);
  };
}

function cut(list: readonly string[] = [], length = MAX_ENTRY): string[] {
  return list
    .slice(0, MAX_LISTED)
    .map((entry) => entry.slice(0, length))
    .filter((entry) => entry !== "");
}

function group(
  pairs: readonly (readonly [string, string])[],
  key: (name: string) => string,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs.slice(0, MAX_LISTED)) {
    const list = groups.get(key(name)) ?? [];
    list.push(value.slice(0, MAX_ENTRY));
    groups.set(key(name), list);
  }
  return groups;
}

function metaPairs({ name, property, httpEquiv, content }: MetaTag): (readonly [string, string])[] {
  return [name, property, httpEquiv].flatMap((key) => (key === null || key === "" ? [] : [[key, content] as const]));
}

function baseOf(url: string, href: string | null): string {
  return (href === null ? null : URL.parse(href.slice(0, MAX_ENTRY), url)?.href) ?? url;
}

function resolve(src: string | null, base: string): string[] {
  // A data: URL contains a whole script and has no file name.
  if (src === null || src === "" || src.startsWith("data:")) return [];
  const short = src.slice(0, MAX_ENTRY);
  return [(URL.parse(short, base)?.href ?? short).slice(0, MAX_ENTRY)];
}

/** Collects the inline scripts and styles, the addresses of other scripts, and the visible text. */
function readContents(root: Document): { text: string; addresses: string[]; scripts: string[]; css: string[] } {
  const scripts: string[] = [];
  const addresses: string[] = [];
  const css: string[] = [];
  const left = { script: MAX_SCRIPTS, style: MAX_SCRIPTS };
  for (const element of walkElements(root, new Set(["template"]))) {
    const { name } = element;
    if (name !== "script" && name !== "style") continue;
    if (name === "script") {
      const address = scriptAddress(element);
      if (address !== null && addresses.length < MAX_LISTED) addresses.push(address);
      if (address !== null || element.attribs["src"] !== undefined || !containsCode(element)) continue;
    }
    const content = textOf(element, left[name]);
    left[name] -= content.length;
    if (content !== "") (name === "script" ? scripts : css).push(content);
  }
  return { text: visibleText(root), addresses, scripts, css };
}

const UNSEEN = new Set(["script", "style", "template", "noscript", "head"]);

function visibleText(root: Document): string {
  const parts: string[] = [];
  let length = 0;
  const stack: ChildNode[] = root.firstChild === null ? [] : [root.firstChild];
  for (let node = stack.pop(); node !== undefined && length < MAX_TEXT; node = stack.pop()) {
    if (node.nextSibling !== null) stack.push(node.nextSibling);
    if (isText(node)) {
      parts.push(node.data);
      length += node.data.length;
    } else if (isTag(node) && node.firstChild !== null && !UNSEEN.has(node.name)) stack.push(node.firstChild);
  }
  return parts.join("").slice(0, MAX_TEXT).replaceAll(/\s+/g, " ").trim();
}

const JAVASCRIPT = /^(?:module|(?:text|application)\/(?:x-)?(?:java|ecma)script)$/i;
/**
 * Script types that optimisers set on scripts that they run later: WP Rocket, LiteSpeed Cache, Perfmatters,
 * FlyingPress, Partytown, and Cloudflare's Rocket Loader, which puts a number before the type.
 */
const DELAYED =
  /^(?:rocketlazyloadscript|litespeed\/javascript|pmdelayedscript|flyingpress\/delayed|text\/partytown|[0-9a-f]{20,32}-(?:module|(?:text|application)\/javascript))$/i;
/** Attributes that consent tools document for scripts of the type text/plain that run after consent. */
const CONSENT_ATTRIBUTES = [
  "data-cookieconsent",
  "data-cookiecategory",
  "data-category",
  "data-consent",
  "data-usercentrics",
  "data-service",
  "data-cmp-vendor",
  "data-borlabs-cookie-script-blocker-id",
];
/** Class names with the same purpose: OneTrust, Complianz, CookieYes, iubenda. */
const CONSENT_CLASS = /(?:^|\s)(?:optanon-category-|cmplz-|cli-|_iub_cs_activate)/;
/** Attributes that hold the address of a script. */
const ADDRESSES = ["src", "data-src", "data-rocket-src", "data-cmp-src", "data-suppressedsrc", "data-cookieblock-src"];

/** Returns the address that a script element loads now or later, or null for an inline script. */
function scriptAddress(element: Element): string | null {
  for (const name of ADDRESSES) {
    const value = attribute(element, name);
    if (value !== null && value !== "") return value;
  }
  return null;
}

/**
 * Reports whether the text of an inline script is code that runs now or later, or a data block with an id, which holds
 * the state of a framework.
 */
function containsCode(element: Element): boolean {
  const type = attribute(element, "type") ?? "";
  if (type === "" || JAVASCRIPT.test(type) || DELAYED.test(type)) return true;
  if (type.toLowerCase() === "text/plain") return waitsForConsent(element);
  return attribute(element, "id") !== null;
}

function waitsForConsent(element: Element): boolean {
  return (
    CONSENT_ATTRIBUTES.some((name) => attribute(element, name) !== null) ||
    CONSENT_CLASS.test(attribute(element, "class")?.slice(0, 1000) ?? "")
  );
}

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
    const { tag, id, class: classes, attribute: byAttribute } = this.#by;
    for (const element of walkElements(root, SKIPPED)) {
      this.#all.push(element);
      appendTo(tag, element.name, element);
      for (const name in element.attribs) appendTo(byAttribute, name, element);
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
