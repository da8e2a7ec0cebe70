import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  findings,
  integer,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

function plainObject(description: string) {
  return Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", additionalProperties: true, description });
}

const Item = Type.Object({
  type: texts("Its types. schema.org types are given by name, other types by address"),
  properties: plainObject("Its properties, unchanged except that long texts and lists are shortened"),
  source: word(["json-ld", "microdata", "rdfa"], "Syntax of the item"),
  line: integer("Line of the page on which the item begins, from 1"),
});

const RichResult = Type.Object({
  feature: text("Kind of rich result, e.g. Product"),
  eligible: truth(
    "Whether no required property is missing and the feature still exists. The search engine decides whether it shows " +
      "the rich result",
  ),
  missing_required: texts("Paths of missing required properties, e.g. offers.price. Alternatives are joined by or"),
  missing_recommended: texts("Paths of missing recommended properties. Alternatives are joined by or"),
  deprecated: truth("Whether the search engine no longer shows the feature. reference_date is when it ended"),
  note: Nullable(text("Restriction of the feature, or the date on which it ended; null if there is none")),
  item: integer("Index of the item in items"),
  line: integer("Line of the page on which the item begins, from 1"),
  reference: text("URL of the documentation of the feature's properties"),
  reference_date: text("Date on which that documentation was read, or on which the feature ended, as YYYY-MM-DD"),
});

/** Contract of the tool that reads a page's structured data and checks it for rich results. */
export const schema = defineTool({
  name: "schema",
  title: "Structured data",
  summary: "JSON-LD, microdata, RDFa and Open Graph of a page, their faults, and which rich results they qualify for",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  open: { q: "url" },
  params: Type.Object({ url: Url({ description: "Page to read; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    formats: record(
      {
        json_ld: list(plainObject("An object"), "Objects of the JSON-LD blocks. Top-level arrays are split"),
        microdata: list(
          plainObject("An item: type[], id if it has one, and properties with lists of values"),
          "Top-level items by the HTML standard, with resolved addresses",
        ),
        rdfa: list(
          plainObject("An item: type[], id if it has one, and properties with lists of values"),
          "Items with a type in RDFa Lite",
        ),
        opengraph: list(
          Type.Object({ property: text("Name, e.g. og:title"), content: text("Content of the property") }),
          "Open Graph properties in document order",
        ),
      },
      "Structured data of each syntax",
    ),
    items: list(Item, "Top-level items in page order. Members of @graph count as top-level items"),
    items_total: count("Number of top-level items on the page, also if items is cut"),
    types: texts("All types on the page, including those of nested items, each once"),
    findings: findings(
      "Faults of the markup, invalid values, and properties that rich results lack; most severe first",
    ),
    rich_results: list(RichResult, "Kinds of rich results that an item of the page has the type for"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ types, rich_results }) => [types, rich_results.map(({ feature, eligible }) => [feature, eligible])],
    measure: () => ({}),
  },
});
