import { valuesOf, type Entities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import { FEATURES, type Feature } from "#probe-agent/analysis/page/structured/features.ts";
import { collectMissing } from "#probe-agent/analysis/page/structured/missing.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/analysis/page/structured/variants.ts";

/** Whether a thing has what a kind of rich result asks for. */
export interface RichResult {
  readonly feature: string;
  /** Nothing required is missing of a feature that has not ended. That it is shown is up to the search engine. */
  readonly eligible: boolean;
  readonly missing_required: readonly string[];
  readonly missing_recommended: readonly string[];
  readonly deprecated: boolean;
  readonly note: string | null;
  readonly reference: string;
  /** Date of what is known of the feature, YYYY-MM-DD. */
  readonly reference_date: string;
  /** Index of the top thing it belongs to. */
  readonly item: number;
}

type ById = Entities["byId"];

/** Properties whose things are looked at like those at the top. */
const LEADING =
  "mainEntity mainEntityOfPage breadcrumb video subjectOf itemReviewed hasPart hasMerchantReturnPolicy".split(" ");
const MAX_RESULTS = 200;
/** Things of one property looked at, paths listed of one thing. */
const MAX_THINGS = 100;
const MAX_MISSING = 50;

/** Every feature that a thing of the page is of the type for. */
export function richResults(entities: Entities): RichResult[] {
  const { top, byId } = entities;
  const results: RichResult[] = [];
  const seen = new Set<Entity>();
  const { whole } = findVariants(entities);
  for (const [item, one] of top.entries()) {
    for (const entity of candidates(one, byId)) {
      if (seen.has(entity)) continue;
      seen.add(entity);
      for (const feature of FEATURES) {
        if (results.length >= MAX_RESULTS) return results;
        if (applies(feature, entity, byId)) results.push(judge(feature, whole(entity), item, byId));
      }
    }
  }
  return results;
}

function candidates({ entity, understood }: TopEntity, byId: ById): Entity[] {
  if (!understood) return [];
  const inner = LEADING.flatMap((name) => valuesOf(entity, name, byId).slice(0, MAX_THINGS));
  const variants = valuesOf(entity, "hasVariant", byId).slice(0, MAX_VARIANTS);
  const listed = entity.types.includes("ItemList") ? listedThings(entity, byId) : [];
  return [entity, ...[...inner, ...variants, ...listed].filter((value) => typeof value === "object")];
}

/** The things of a list, whether its elements hold them or are them. */
function listedThings(list: Entity, byId: ById): (string | Entity)[] {
  return valuesOf(list, "itemListElement", byId)
    .slice(0, MAX_THINGS)
    .flatMap((element) => (typeof element === "object" ? [element, ...valuesOf(element, "item", byId)] : []));
}

function applies({ types, condition }: Feature, entity: Entity, byId: ById): boolean {
  return entity.types.some((type) => types.has(type)) && (condition === null || condition(entity, byId));
}

function judge(feature: Feature, entity: Entity, item: number, byId: ById): RichResult {
  const { name, deprecated, note, reference, asOf, shape } = feature;
  const { required, recommended } = collectMissing(shape, entity, byId);
  return {
    feature: name,
    eligible: !deprecated && required.length === 0,
    missing_required: required.slice(0, MAX_MISSING),
    missing_recommended: recommended.slice(0, MAX_MISSING),
    deprecated,
    note,
    reference,
    reference_date: asOf,
    item,
  };
}
