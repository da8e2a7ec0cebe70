import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import { readHtml, definePageAnalysis, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import {
  fitFindings,
  adviseOn,
  finding,
  type AdviceTable,
  type FindingDraft,
} from "#probe-agent/analysis/text/findings.ts";
import { excerpt, storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { richResults, type RichResult } from "#probe-agent/tools/schema/rich-results.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/tools/schema/variants.ts";
import { findInvalidValues, type ValueWarning } from "#probe-agent/tools/schema/value-checks.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { LocatedFault } from "#probe-agent/analysis/page/structured/item.ts";

/** Maximum size of all lists together, in bytes of JSON. */
const REPORT_BYTES = 200 * 1024;
/** Maximum size of the findings, in bytes of JSON. */
const FINDING_BYTES = 24 * 1024;
/** Approximate maximum size of one item in the result, in characters. */
const ITEM_BUDGET = 20_000;
const MAX_TYPES = 200;

/** Reports on the structured data of a page, cut to the size of a result. `url` is the address of the page. */
export function structuredReport(page: Page, url: string) {
  const data = locateData(page, url);
  const social = readSocialTags(page);
  const entities = readEntities(data);
  const lines = entities.top.map(lineOf(page.text));
  const rich = richResults(entities);
  let shortened = false;
  const shorten = (item: object): Readonly<Record<string, unknown>> => {
    const { value, cut } = excerpt(item as Readonly<Record<string, unknown>>, ITEM_BUDGET);
    shortened ||= cut;
    return value;
  };
  const lists = {
    json_ld: data.json_ld.map(({ value }) => shorten(value)),
    microdata: data.microdata.map(({ value }) => shorten(value)),
    rdfa: data.rdfa.map(({ value }) => shorten(value)),
    opengraph: social.properties.map(([property, content]) => ({ property, content: storable(content, 2000) })),
    items: entities.top.map((one, index) => ({
      type: one.entity.types.slice(0, 20).map((type) => storable(type, 200)),
      properties: shorten(propertiesOf(one)),
      source: one.source,
      line: lines[index] ?? 1,
    })),
    rich_results: rich.map((one) => ({
      ...one,
      missing_required: [...one.missing_required],
      missing_recommended: [...one.missing_recommended],
      line: lines[one.item] ?? 1,
    })),
  };
  const { fitted, cut } = fitLists(lists);
  const { omitted } = findVariants(entities);
  const lineAt = lineCounter(page.text);
  const fittedFindings = fitFindings(
    structuredFindings({
      faults: data.errors.map((error) => ({ ...error, line: lineAt(error.position) })),
      items: entities.top.map(({ usesSchemaOrg, entity }) => ({ usesSchemaOrg, typed: entity.types.length > 0 })),
      values: findInvalidValues(entities),
      rich,
    }),
    FINDING_BYTES,
  );
  const { json_ld, microdata, rdfa, opengraph, ...rest } = fitted;
  return {
    ...rest,
    findings: fittedFindings.findings,
    formats: { json_ld, microdata, rdfa, opengraph },
    items_total: entities.top.length,
    types: typesOf(entities.top.map(({ entity }) => entity)),
    limitations: [
      ...(shortened ? ["Long texts, long lists and deeply nested values are shortened."] : []),
      ...(omitted > 0
        ? [`Only the first ${MAX_VARIANTS} variants of a product are evaluated: ${omitted} are not in rich_results.`]
        : []),
      ...fittedFindings.limitations,
      ...cut.map((name) => `The list ${name} is cut: it has more entries than fit into a result.`),
    ],
  };
}

/** Structured data of a page. */
export const schemaAnalysis = definePageAnalysis("schema", ({ page, url }) =>
  structuredReport(page ?? readHtml(""), url),
);

type Lists = Readonly<Record<string, readonly unknown[]>>;

/** Cuts the largest lists so that all lists together fit into REPORT_BYTES. `cut`: names of the lists that were cut. */
function fitLists<L extends Lists>(lists: L): { fitted: { [K in keyof L]: L[K][number][] }; cut: string[] } {
  const names = Object.keys(lists);
  const shares = fairShares(
    names.map((name) => jsonBytes(lists[name])),
    REPORT_BYTES,
  );
  const cut: string[] = [];
  const entries = names.map((name, index) => {
    const all = lists[name] ?? [];
    const kept = leading(all, shares[index] ?? 0);
    if (kept.length < all.length) cut.push(name);
    return [name, kept] as const;
  });
  return { fitted: Object.fromEntries(entries) as { [K in keyof L]: L[K][number][] }, cut };
}

function lineOf(text: string): (one: TopEntity) => number {
  const lines = lineCounter(text);
  return ({ offset }) => lines(offset);
}

function propertiesOf({ raw, source }: TopEntity): object {
  if (source !== "json-ld") return raw["properties"] as object;
  return Object.fromEntries(
    Object.entries(raw).filter(([key]) => key !== "@type" && key !== "@context" && key !== "@graph"),
  );
}

function typesOf(top: readonly Entity[]): string[] {
  const types = new Set<string>();
  const pending = top.toReversed();
  for (let entity = pending.pop(); entity !== undefined && types.size < MAX_TYPES; entity = pending.pop()) {
    for (const type of entity.types) types.add(storable(type, 200));
    for (const value of [...entity.properties.values()].flat()) {
      if (typeof value === "object" && !("ref" in value)) pending.push(value);
    }
  }
  return [...types].slice(0, MAX_TYPES);
}

/** Facts about a page's structured data that findings depend on. */
interface StructuredSubject {
  /** Faults of the markup with their line numbers, from 1. */
  readonly faults: readonly (LocatedFault & { readonly line: number })[];
  /** For each top-level item: whether its names are from schema.org, and whether it has a type. */
  readonly items: readonly { readonly usesSchemaOrg: boolean; readonly typed: boolean }[];
  readonly values: readonly ValueWarning[];
  readonly rich: readonly RichResult[];
}

const MAX_PATHS = 10;

/**
 * Severity and advice for each kind of finding. None is critical, because none keeps visitors out. Findings about rich
 * results have the reference of their feature.
 */
const STRUCTURED_ADVICE = {
  "json-ld-fault": {
    severity: "warning",
    how: "Write the block as strict JSON. Because of this fault, strict parsers ignore the whole block.",
    reference: "https://www.rfc-editor.org/rfc/rfc8259",
  },
  "json-ld-unreadable": {
    severity: "warning",
    how: "Correct the JSON at this place. A JSON parser must accept the whole block.",
    reference: "https://www.rfc-editor.org/rfc/rfc8259",
  },
  "microdata-fault": {
    severity: "warning",
    how: "Correct the itemscope, itemprop, itemtype or itemref attribute in this line.",
    reference: "https://html.spec.whatwg.org/multipage/microdata.html",
  },
  "rdfa-fault": {
    severity: "warning",
    how: 'Correct the attribute in this line. Set the vocabulary with vocab="https://schema.org/" on an outer element.',
    reference: "https://www.w3.org/TR/rdfa-lite/",
  },
  "context-missing": {
    severity: "warning",
    how: 'Add "@context": "https://schema.org" to the block.',
    reference: "https://schema.org/docs/gs.html",
  },
  "type-missing": {
    severity: "warning",
    how: 'Add a schema.org type, e.g. "@type": "Product".',
    reference: "https://developers.google.com/search/docs/appearance/structured-data/intro-structured-data",
  },
  "invalid-value": { severity: "warning", how: null, reference: "https://schema.org/docs/datamodel.html" },
  "rich-result-ended": { severity: "info", how: null, reference: null },
  "required-property-missing": { severity: "warning", how: null, reference: null },
  "recommended-property-missing": { severity: "info", how: null, reference: null },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof STRUCTURED_ADVICE>;

/** Returns findings about faults of the markup, invalid values, and properties that rich results lack. */
function structuredFindings({ faults, items, values, rich }: StructuredSubject): Finding[] {
  const drafts = [
    ...faults.map(faultFinding),
    ...items.flatMap(itemFindings),
    ...values.map(valueFinding),
    ...rich.flatMap(richFindings),
  ];
  return adviseOn(STRUCTURED_ADVICE, drafts, null);
}

/** Returns a finding about a fault. Reading continued after it, unless the block was lost; only JSON-LD can be. */
function faultFinding({ syntax, message, lost, line }: StructuredSubject["faults"][number]): Draft {
  const where = `line ${line}`;
  if (!lost) return finding(`${syntax}-fault`, where, `${message} (line ${line}).`);
  return finding("json-ld-unreadable", where, `${message} (line ${line}). Search engines ignore the whole block.`);
}

function itemFindings({ usesSchemaOrg, typed }: StructuredSubject["items"][number], index: number): Draft[] {
  const where = `items[${index}]`;
  if (!usesSchemaOrg) {
    const message = "The block has no schema.org @context, so search engines do not understand its properties.";
    return [finding("context-missing", where, message)];
  }
  return typed ? [] : [finding("type-missing", where, "The item has no type, so search engines ignore it.")];
}

function valueFinding({ item, path, value, wanted }: ValueWarning): Draft {
  const message = `The value of ${path}, ${value}, is not ${wanted}.`;
  return { ...finding("invalid-value", `items[${item}].${path}`, message), how: `Write ${path} as ${wanted}.` };
}

function richFindings(one: RichResult): Draft[] {
  const { feature, deprecated, missing_required: required, missing_recommended: recommended, reference } = one;
  const where = `items[${one.item}]`;
  if (deprecated) {
    const message = `Google no longer shows ${feature} rich results (since ${one.reference_date}).`;
    return [{ ...finding("rich-result-ended", where, message), reference }];
  }
  const found: Draft[] = [];
  if (required.length > 0) {
    const message = `The item is not eligible for ${feature} rich results: it lacks ${joinPaths(required)}.`;
    const how = `Add ${joinPaths(required)} to the item.`;
    found.push({ ...finding("required-property-missing", where, message), how, reference });
  }
  if (recommended.length > 0) {
    const message = `The item lacks properties that Google recommends for ${feature} rich results: ${joinPaths(recommended)}.`;
    const how = `Add the properties whose values you know: ${joinPaths(recommended)}.`;
    found.push({ ...finding("recommended-property-missing", where, message), how, reference });
  }
  return found;
}

function joinPaths(paths: readonly string[]): string {
  return `${paths.slice(0, MAX_PATHS).join(", ")}${paths.length > MAX_PATHS ? " and others" : ""}`;
}
