import { documentBase } from "#probe-agent/analysis/http/address.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readJsonLd, type JsonLdObject } from "#probe-agent/analysis/page/structured/json-ld.ts";
import type {
  Located,
  LocatedFault,
  StructuredError,
  StructuredItem,
} from "#probe-agent/analysis/page/structured/item.ts";
import { readMicrodata, type ItemContents } from "#probe-agent/analysis/page/structured/microdata.ts";
import { readRdfa } from "#probe-agent/analysis/page/structured/rdfa.ts";

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
 * Reads JSON-LD, microdata and RDFa of a page, with positions. `url` is the page's own URL; relative URLs are resolved
 * against it and the base element.
 */
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

function inSyntax(syntax: LocatedFault["syntax"]): (error: StructuredError) => LocatedFault {
  return ({ message, position, lost }) => ({ message, position, syntax, lost: lost === true });
}
