import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { structuredFindings } from "#probe-agent/analysis/page/structured/findings.ts";
import { excerpt, storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { richResults } from "#probe-agent/analysis/page/structured/rich-results.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/analysis/page/structured/variants.ts";
import { findInvalidValues } from "#probe-agent/analysis/page/structured/value-checks.ts";

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
