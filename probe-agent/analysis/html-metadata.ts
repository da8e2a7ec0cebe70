import { documentBase } from "#probe-agent/analysis/http/address.ts";
import { readHtml, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { readJsonLd, type JsonLdObject } from "#probe-agent/analysis/page/structured/json-ld.ts";
import type {
  Located,
  LocatedFault,
  StructuredError,
  StructuredItem,
} from "#probe-agent/analysis/page/structured/item.ts";
import { readMicrodata, type ItemContents } from "#probe-agent/analysis/page/structured/microdata.ts";
import { readSocialTags, type SocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { readRdfa } from "#probe-agent/analysis/page/structured/rdfa.ts";

/** The structured data of a page by syntax. */
interface StructuredData {
  /** Objects verbatim. A top-level array gives one entry for each of its objects. */
  readonly json_ld: readonly JsonLdObject[];
  readonly microdata: readonly StructuredItem[];
  readonly rdfa: readonly StructuredItem[];
  /** Faults, including parts that cannot be parsed, sorted by position. */
  readonly errors: readonly StructuredError[];
}

/** The structured data of a page with the position of each item. */
export interface LocatedData {
  readonly json_ld: readonly Located<JsonLdObject>[];
  readonly microdata: readonly Located<StructuredItem>[];
  readonly rdfa: readonly Located<StructuredItem>[];
  readonly errors: readonly LocatedFault[];
  /** Microdata values that search engines read differently from the standard. */
  readonly contents: ItemContents;
}

/**
 * Reads JSON-LD, microdata and RDFa of a page. `url` is the page's own URL; relative URLs are resolved against it and
 * the base element.
 */
export function structuredData(html: string, url: string): StructuredData {
  const { json_ld, microdata, rdfa, errors } = locateData(readHtml(html), url);
  return {
    json_ld: json_ld.map(valueOf),
    microdata: microdata.map(valueOf),
    rdfa: rdfa.map(valueOf),
    errors: errors.map(({ message, position }) => ({ message, position })),
  };
}

/** Reads the structured data of a parsed page, with positions. */
export function locateData({ document, facts, text }: Page, url: string): LocatedData {
  const base = documentBase(facts.baseHref, url);
  const size = { characters: text.length, elements: document.elements };
  const jsonLd = readJsonLd(document.root);
  const microdata = readMicrodata(document.root, base, size);
  const rdfa = readRdfa(document.root, base, size);
  const errors = [
    ...jsonLd.errors.map(inSyntax("json-ld")),
    ...microdata.errors.map(inSyntax("microdata")),
    ...rdfa.errors.map(inSyntax("rdfa")),
  ];
  return {
    json_ld: jsonLd.items,
    microdata: microdata.items,
    rdfa: rdfa.items,
    errors: errors.toSorted((one, other) => one.position - other.position),
    contents: microdata.contents,
  };
}

/** Reads the Open Graph and X card properties of a page, in document order, repeats included. */
export function openGraph(html: string, _url: string): SocialTags {
  return readSocialTags(readHtml(html));
}

function inSyntax(syntax: LocatedFault["syntax"]): (error: StructuredError) => LocatedFault {
  return ({ message, position, lost }) => ({ message, position, syntax, lost: lost === true });
}

function valueOf<T>({ value }: Located<T>): T {
  return value;
}
