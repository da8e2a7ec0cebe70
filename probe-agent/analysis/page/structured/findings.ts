import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import type { LocatedFault } from "#probe-agent/analysis/page/structured/item.ts";
import type { RichResult } from "#probe-agent/analysis/page/structured/rich-results.ts";
import type { ValueWarning } from "#probe-agent/analysis/page/structured/value-checks.ts";

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
export function structuredFindings({ faults, items, values, rich }: StructuredSubject): Finding[] {
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
