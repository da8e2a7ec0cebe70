import type { Finding, Severity } from "#shared/findings.ts";
import type { LocatedFault } from "#probe-agent/analysis/page/structured/item.ts";
import type { RichResult } from "#probe-agent/analysis/page/structured/rich-results.ts";
import type { ValueWarning } from "#probe-agent/analysis/page/structured/value-checks.ts";

/** What structured data is judged by. */
interface StructuredSubject {
  /** Faults of the markup with their lines, from 1. */
  readonly faults: readonly (LocatedFault & { readonly line: number })[];
  /** The things at the top by index: whether their words are those of schema.org, and whether they have a type. */
  readonly things: readonly { readonly understood: boolean; readonly typed: boolean }[];
  readonly values: readonly ValueWarning[];
  readonly rich: readonly RichResult[];
}

const INTRO = "https://developers.google.com/search/docs/appearance/structured-data/intro-structured-data";
const SCHEMA_ORG = "https://schema.org/docs/gs.html";
const MAX_PATHS = 10;

/** By the syntax of a fault that was read over. Strict readers give up the block. */
const SYNTAX: Readonly<
  Record<LocatedFault["syntax"], { readonly id: string; readonly how: string; readonly reference: string }>
> = {
  "json-ld": {
    id: "json-ld-fault",
    how: "Write the block as strict JSON: strict readers ignore all of it for this fault.",
    reference: "https://www.rfc-editor.org/rfc/rfc8259",
  },
  microdata: {
    id: "microdata-fault",
    how: "Correct the itemscope, itemprop, itemtype or itemref attribute in this line.",
    reference: "https://html.spec.whatwg.org/multipage/microdata.html",
  },
  rdfa: {
    id: "rdfa-fault",
    how: 'Correct the attribute in this line; the vocabulary is set by vocab="https://schema.org/" on an outer element.',
    reference: "https://www.w3.org/TR/rdfa-lite/",
  },
};

/** Faults of the markup, values that cannot be read, and what rich results lack. Nothing of it keeps visitors out. */
export function structuredFindings({ faults, things, values, rich }: StructuredSubject): Finding[] {
  return [
    ...faults.map(faultFinding),
    ...things.flatMap(({ understood, typed }, item) => thingFindings(item, understood, typed)),
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
  if (!lost) return finding(id, "warning", `${message}, in line ${line}.`, how, reference, where);
  return finding(
    "json-ld-unreadable",
    "warning",
    `${message}, in line ${line}: search engines ignore the whole block.`,
    "Correct the JSON at this place; a JSON parser must accept the block.",
    reference,
    where,
  );
}

function thingFindings(item: number, understood: boolean, typed: boolean): Finding[] {
  const where = `items[${item}]`;
  if (!understood) {
    return [
      finding(
        "context-missing",
        "warning",
        "The block has no @context of schema.org, so search engines do not know its words.",
        'Add "@context": "https://schema.org" to the block.',
        SCHEMA_ORG,
        where,
      ),
    ];
  }
  if (typed) return [];
  const how = 'Add a type of schema.org, e.g. "@type": "Product".';
  return [finding("type-missing", "warning", "The item has no type, so search engines ignore it.", how, INTRO, where)];
}

function richFindings(one: RichResult): Finding[] {
  const { feature, deprecated, missing_required: required, missing_recommended: recommended } = one;
  const where = `items[${one.item}]`;
  if (deprecated) {
    const message = `Google no longer shows ${feature} rich results since ${one.reference_date}.`;
    return [finding("rich-result-ended", "info", message, null, one.reference, where)];
  }
  return [
    ...(required.length === 0
      ? []
      : [
          finding(
            "required-property-missing",
            "warning",
            `The item is not eligible for ${feature} rich results: ${listed(required)} is missing.`,
            `Add ${listed(required)} to the item.`,
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
            `Google recommends properties for ${feature} rich results that are missing: ${listed(recommended)}.`,
            `Add what you know of ${listed(recommended)}.`,
            one.reference,
            where,
          ),
        ]),
  ];
}

function listed(paths: readonly string[]): string {
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
