import { isDirective, isTag, isText, type Document, type Element } from "domhandler";
import { textOf, walkElements } from "#probe-agent/analysis/html/document.ts";

/** A meta element. name and http-equiv are in lower case. */
export interface MetaTag {
  readonly name: string | null;
  readonly property: string | null;
  readonly httpEquiv: string | null;
  readonly charset: string | null;
  readonly content: string;
  readonly offset: number;
}

/** A script element. */
export interface ScriptTag {
  /** Attribute value, trimmed. null for inline scripts. */
  readonly src: string | null;
  readonly integrity: string | null;
  readonly crossorigin: string | null;
  readonly type: string | null;
  readonly offset: number;
}

/** A link element. */
interface LinkTag {
  /** Link types in lower case. */
  readonly rel: readonly string[];
  readonly href: string | null;
  readonly as: string | null;
  readonly integrity: string | null;
  readonly hreflang: string | null;
  readonly type: string | null;
  readonly offset: number;
}

/** Facts from the elements of a page that several tools use. */
export interface PageFacts {
  /** Name of the DOCTYPE in lower case ("html"). null if there is none. */
  readonly doctype: string | null;
  /** Text of the first title element. null if there is none. */
  readonly title: string | null;
  /** lang attribute of the html element, unchanged. null if there is none. */
  readonly lang: string | null;
  /** href of the first base element that has one. null if there is none. */
  readonly baseHref: string | null;
  readonly metas: readonly MetaTag[];
  readonly scripts: readonly ScriptTag[];
  readonly links: readonly LinkTag[];
}

/** Maximum number of entries in each list. */
const MAX_LISTED = 5000;
/** Elements whose content is not part of the page if scripts run. */
export const INERT_ELEMENTS: ReadonlySet<string> = new Set(["template", "noscript"]);

/** Reads the facts of a parsed page. */
export function readPageFacts(root: Document): PageFacts {
  let title: string | null = null;
  let lang: string | null = null;
  let baseHref: string | null = null;
  let seenHtml = false;
  const metas: MetaTag[] = [];
  const scripts: ScriptTag[] = [];
  const links: LinkTag[] = [];
  for (const element of walkElements(root, INERT_ELEMENTS)) {
    if (element.name === "html" && !seenHtml) {
      seenHtml = true;
      lang = attribute(element, "lang");
    } else if (element.name === "title" && title === null && !isInside(element, "svg")) title = textOf(element);
    else if (element.name === "base") baseHref ??= attribute(element, "href");
    else if (element.name === "meta") keep(metas, readMeta(element));
    else if (element.name === "script") keep(scripts, readScript(element));
    else if (element.name === "link") keep(links, readLink(element));
  }
  return { doctype: readDoctype(root), title, lang, baseHref, metas, scripts, links };
}

/** Returns the content of the first meta element with this name (lower case), or null if there is none. */
export function metaContent(facts: PageFacts, name: string): string | null {
  return facts.metas.find((meta) => meta.name === name)?.content ?? null;
}

/** Returns the contents of all meta elements with this http-equiv (lower case). */
export function metaPragmas(facts: PageFacts, httpEquiv: string): string[] {
  return facts.metas.filter((meta) => meta.httpEquiv === httpEquiv).map((meta) => meta.content);
}

/** Returns an attribute's value without white space at its ends, or null if the attribute is absent. */
export function attribute(element: Element, name: string): string | null {
  return Object.hasOwn(element.attribs, name) ? (element.attribs[name] ?? "").trim() : null;
}

function readDoctype(root: Document): string | null {
  for (const node of root.children) {
    if (isDirective(node) && /^!doctype/i.test(node.data)) {
      return /^!doctype\s+([^\s>]+)/i.exec(node.data.slice(0, 1024))?.[1]?.toLowerCase() ?? "";
    }
    // A DOCTYPE after the first element or text does not count.
    if (isTag(node) || (isText(node) && node.data.trim() !== "")) return null;
  }
  return null;
}

function readMeta(element: Element): MetaTag {
  return {
    name: attribute(element, "name")?.toLowerCase() ?? null,
    property: attribute(element, "property"),
    httpEquiv: attribute(element, "http-equiv")?.toLowerCase() ?? null,
    charset: attribute(element, "charset"),
    content: attribute(element, "content") ?? "",
    offset: element.startIndex ?? 0,
  };
}

function readScript(element: Element): ScriptTag {
  return {
    src: attribute(element, "src"),
    integrity: attribute(element, "integrity"),
    crossorigin: attribute(element, "crossorigin"),
    type: attribute(element, "type"),
    offset: element.startIndex ?? 0,
  };
}

function readLink(element: Element): LinkTag {
  const rel = attribute(element, "rel") ?? "";
  return {
    rel: rel === "" ? [] : rel.toLowerCase().split(/\s+/),
    href: attribute(element, "href"),
    as: attribute(element, "as")?.toLowerCase() ?? null,
    integrity: attribute(element, "integrity"),
    hreflang: attribute(element, "hreflang"),
    type: attribute(element, "type"),
    offset: element.startIndex ?? 0,
  };
}

/** Reports whether an element is inside another one with this name. */
export function isInside(element: Element, name: string): boolean {
  for (let parent = element.parent; parent !== null; parent = parent.parent) {
    if (isTag(parent) && parent.name === name) return true;
  }
  return false;
}

function keep<T>(list: T[], entry: T): void {
  if (list.length < MAX_LISTED) list.push(entry);
}
