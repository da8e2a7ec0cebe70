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

function thing(description: string) {
  return Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", additionalProperties: true, description });
}

const Item = Type.Object({
  type: texts("Its types, those of schema.org by their names, others by their addresses"),
  properties: thing("Its properties as written; long texts and lists are shortened"),
  source: word(["json-ld", "microdata", "rdfa"], "Syntax it is written in"),
  line: integer("Line of the page on which it begins, from 1"),
});

const RichResult = Type.Object({
  feature: text("Kind of rich result, e.g. Product"),
  eligible: truth(
    "Nothing required is missing of a feature that still exists; whether it is shown is up to the search engine",
  ),
  missing_required: texts(
    "Paths of required properties that are missing, e.g. offers.price; alternatives joined by or",
  ),
  missing_recommended: texts("Likewise for recommended ones"),
  deprecated: truth("The search engine no longer shows the feature: reference_date is when it ended"),
  note: Nullable(text("What else to know about the feature")),
  item: integer("Index in items of the thing it belongs to"),
  line: integer("Line of the page on which that begins, from 1"),
  reference: text("Documentation of the feature's properties"),
  reference_date: text("Date on which that documentation was read, or on which the feature ended, YYYY-MM-DD"),
});

/** What a page says about itself to machines, and which rich results that is enough for. */
export const schema = defineTool({
  name: "schema",
  title: "Structured data",
  summary: "JSON-LD, microdata, RDFa and Open Graph of a page, their faults, and the rich results they are enough for",
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
        json_ld: list(thing("An object"), "Objects of the JSON-LD blocks as written, top-level arrays taken apart"),
        microdata: list(
          thing("An item: type[], id where it has one, properties of lists"),
          "Top-level items by the HTML standard; addresses resolved",
        ),
        rdfa: list(thing("A thing: type[], id where it has one, properties of lists"), "Typed things in RDFa Lite"),
        opengraph: list(
          Type.Object({ property: text("Name, e.g. og:title"), content: text("Its content as written") }),
          "Open Graph properties in document order",
        ),
      },
      "What each syntax gave",
    ),
    items: list(Item, "All things in the order of the page; members of @graph count as things of their own"),
    items_total: count("Number of things, also where items is cut"),
    types: texts("All types that occur, nested ones too, each once"),
    findings: findings(
      "Faults of the markup, values that cannot be read, and properties that rich results lack; worst first",
    ),
    rich_results: list(RichResult, "Kinds of rich results the page has a thing for"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ types, rich_results }) => [types, rich_results.map(({ feature, eligible }) => [feature, eligible])],
    measure: () => ({}),
  },
});
