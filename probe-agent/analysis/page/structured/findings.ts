import type { Finding, Severity } from "#shared/findings.ts";
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

const INTRO = "https://developers.google.com/search/docs/appearance/structured-data/intro-structured-data";
const SCHEMA_ORG = "https://schema.org/docs/gs.html";
const MAX_PATHS = 10;

/** Texts for faults after which reading continued, keyed by syntax. Strict parsers ignore the whole block. */
const SYNTAX: Readonly<
  Record<LocatedFault["syntax"], { readonly id: string; readonly how: string; readonly reference: string }>
> = {
  "json-ld": {
    id: "json-ld-fault",
    how: "Write the block as strict JSON. Because of this fault, strict parsers ignore the whole block.",
    reference: "https://www.rfc-editor.org/rfc/rfc8259",
  },
  microdata: {
    id: "microdata-fault",
    how: "Correct the itemscope, itemprop, itemtype or itemref attribute in this line.",
    reference: "https://html.spec.whatwg.org/multipage/microdata.html",
  },
  rdfa: {
    id: "rdfa-fault",
    how: 'Correct the attribute in this line. Set the vocabulary with vocab="https://schema.org/" on an outer element.',
    reference: "https://www.w3.org/TR/rdfa-lite/",
  },
};

/**
 * Returns findings about faults of the markup, invalid values, and properties that rich results lack. None is critical,
 * because none keeps visitors out.
 */
export function structuredFindings({ faults, items, values, rich }: StructuredSubject): Finding[] {
  return [
    ...faults.map(faultFinding),
    ...items.flatMap(({ usesSchemaOrg, typed }, index) => itemFindings(index, usesSchemaOrg, typed)),
    ...values.map(({ item, path, value, wanted }) =>
      finding(
        "invalid-value",
        "warning",
        `The value of ${path}, ${value}, is not ${wanted}.`,
        `Write ${path} as ${wanted}.`,
        "https://schema.org/docs/datamodel.html",
        `items[${item}].${path}`,
      ),
    ),
    ...rich.flatMap(richFindings),
  ];
}

function faultFinding({ syntax, message, lost, line }: StructuredSubject["faults"][number]): Finding {
  const { id, how, reference } = SYNTAX[syntax];
  const where = `line ${line}`;
  if (!lost) return finding(id, "warning", `${message} (line ${line}).`, how, reference, where);
  return finding(
    "json-ld-unreadable",
    "warning",
    `${message} (line ${line}). Search engines ignore the whole block.`,
    "Correct the JSON at this place. A JSON parser must accept the whole block.",
    reference,
    where,
  );
}

function itemFindings(index: number, usesSchemaOrg: boolean, typed: boolean): Finding[] {
  const where = `items[${index}]`;
  if (!usesSchemaOrg) {
    return [
      finding(
        "context-missing",
        "warning",
        "The block has no schema.org @context, so search engines do not understand its properties.",
        'Add "@context": "https://schema.org" to the block.',
        SCHEMA_ORG,
        where,
      ),
    ];
  }
  if (typed) return [];
  const how = 'Add a schema.org type, e.g. "@type": "Product".';
  return [finding("type-missing", "warning", "The item has no type, so search engines ignore it.", how, INTRO, where)];
}

function richFindings(one: RichResult): Finding[] {
  const { feature, deprecated, missing_required: required, missing_recommended: recommended } = one;
  const where = `items[${one.item}]`;
  if (deprecated) {
    const message = `Google no longer shows ${feature} rich results (since ${one.reference_date}).`;
    return [finding("rich-result-ended", "info", message, null, one.reference, where)];
  }
  return [
    ...(required.length === 0
      ? []
      : [
          finding(
            "required-property-missing",
            "warning",
            `The item is not eligible for ${feature} rich results: it lacks ${joinPaths(required)}.`,
            `Add ${joinPaths(required)} to the item.`,
            one.reference,
            where,
          ),
        ]),
    ...(recommended.length === 0
      ? []
      : [
          finding(
            "recommended-property-missing",
            "info",
            `The item lacks properties that Google recommends for ${feature} rich results: ${joinPaths(recommended)}.`,
            `Add the properties whose values you know: ${joinPaths(recommended)}.`,
            one.reference,
            where,
          ),
        ]),
  ];
}

function joinPaths(paths: readonly string[]): string {
  return `${paths.slice(0, MAX_PATHS).join(", ")}${paths.length > MAX_PATHS ? " and others" : ""}`;
}

function finding(
  id: string,
  severity: Severity,
  message: string,
  how: string | null,
  reference: string,
  where: string,
): Finding {
  return { id, severity, message, how, reference, where };
}
