import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import { locateData } from "#probe-agent/analysis/html-metadata.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { structuredFindings } from "#probe-agent/analysis/page/structured/findings.ts";
import { excerpt, storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { richResults } from "#probe-agent/analysis/page/structured/rich-results.ts";
import { findVariants } from "#probe-agent/analysis/page/structured/variants.ts";
import { valueWarnings } from "#probe-agent/analysis/page/structured/value-checks.ts";

/** Octets of JSON for all lists together, and characters shown of one thing. */
const REPORT_BYTES = 200 * 1024;
/** Octets of JSON for the findings. */
const FINDING_BYTES = 24 * 1024;
const THING_BUDGET = 20_000;
const MAX_TYPES = 200;

/** All that is told of a page's structured data, fitted into a result. `url`: the page's own. */
export function structuredReport(page: Page, url: string) {
  const data = locateData(page, url);
  const social = readSocialTags(page);
  const entities = readEntities(data);
  const lines = entities.top.map(lineOf(page.text));
  const rich = richResults(entities);
  let shortened = false;
  const shown = (thing: object): Readonly<Record<string, unknown>> => {
    const { value, cut } = excerpt(thing as Readonly<Record<string, unknown>>, THING_BUDGET);
    shortened ||= cut;
    return value;
  };
  const lists = {
    json_ld: data.json_ld.map(({ value }) => shown(value)),
    microdata: data.microdata.map(({ value }) => shown(value)),
    rdfa: data.rdfa.map(({ value }) => shown(value)),
    opengraph: social.properties.map(([property, content]) => ({ property, content: storable(content, 2000) })),
    items: entities.top.map((one, index) => ({
      type: one.entity.types.slice(0, 20).map((type) => storable(type, 200)),
      properties: shown(propertiesOf(one)),
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
  const { fitted, cut } = fit(lists);
  const { left } = findVariants(entities);
  const lineAt = lineCounter(page.text);
  const judged = fitFindings(
    structuredFindings({
      faults: data.errors.map((error) => ({ ...error, line: lineAt(error.position) })),
      things: entities.top.map(({ understood, entity }) => ({ understood, typed: entity.types.length > 0 })),
      values: valueWarnings(entities),
      rich,
    }),
    FINDING_BYTES,
  );
  const { json_ld, microdata, rdfa, opengraph, ...rest } = fitted;
  return {
    ...rest,
    findings: judged.findings,
    formats: { json_ld, microdata, rdfa, opengraph },
    items_total: entities.top.length,
    types: typesOf(entities.top.map(({ entity }) => entity)),
    limitations: [
      ...(shortened ? ["Long texts, lists and deep nesting of single things are shortened."] : []),
      ...(left > 0 ? [`Of the variants of a product the first are judged: ${left} are left out of rich_results.`] : []),
      ...judged.limitations,
      ...cut.map((name) => `There are more entries than fit into ${name}.`),
    ],
  };
}

type Lists = Readonly<Record<string, readonly unknown[]>>;

/** Cuts the largest lists until all of them fit together. */
function fit<L extends Lists>(lists: L): { fitted: { [K in keyof L]: L[K][number][] }; cut: string[] } {
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
