import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import { locateData } from "#probe-agent/analysis/html-metadata.ts";
import { lineCounter } from "#probe-agent/analysis/html/lines.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { readEntities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import { excerpt, storable } from "#probe-agent/analysis/page/structured/excerpt.ts";
import { readSocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { richResults, type RichResult } from "#probe-agent/analysis/page/structured/rich-results.ts";
import { findVariants } from "#probe-agent/analysis/page/structured/variants.ts";
import { valueWarnings } from "#probe-agent/analysis/page/structured/value-checks.ts";

/** Octets of JSON for all lists together, and characters shown of one thing. */
const REPORT_BYTES = 220 * 1024;
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
    errors: data.errors.map(errorOn(page.text)),
    warnings: [
      ...contextWarnings(entities.top),
      ...valueWarnings(entities).map(({ item, message }) => ({ message, item })),
      ...rich.filter(({ deprecated }) => !deprecated).flatMap(recommendations),
    ].slice(0, 300),
    rich_results: rich.map((one) => ({
      ...one,
      missing_required: [...one.missing_required],
      missing_recommended: [...one.missing_recommended],
      line: lines[one.item] ?? 1,
    })),
  };
  const { fitted, cut } = fit(lists);
  const { left } = findVariants(entities);
  const { json_ld, microdata, rdfa, opengraph, ...rest } = fitted;
  return {
    ...rest,
    formats: { json_ld, microdata, rdfa, opengraph },
    items_total: entities.top.length,
    types: typesOf(entities.top.map(({ entity }) => entity)),
    limitations: [
      ...(shortened ? ["Long texts, lists and deep nesting of single things are shortened."] : []),
      ...(left > 0 ? [`Of the variants of a product the first are judged: ${left} are left out of rich_results.`] : []),
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

function errorOn(text: string) {
  const lines = lineCounter(text);
  return ({ message, position }: { message: string; position: number }) => {
    return { message, position, line: lines(position) };
  };
}

function propertiesOf({ raw, source }: TopEntity): object {
  if (source !== "json-ld") return raw["properties"] as object;
  return Object.fromEntries(
    Object.entries(raw).filter(([key]) => key !== "@type" && key !== "@context" && key !== "@graph"),
  );
}

function contextWarnings(top: readonly TopEntity[]) {
  return top.flatMap(({ understood, entity }, item) => {
    if (!understood) return [{ message: "The block has no @context of schema.org, so its words mean nothing.", item }];
    return entity.types.length === 0 ? [{ message: "The thing has no type.", item }] : [];
  });
}

function recommendations({ feature, missing_recommended, item }: RichResult) {
  return missing_recommended.map((path) => ({ message: `${feature}: ${path} is recommended`, item }));
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
