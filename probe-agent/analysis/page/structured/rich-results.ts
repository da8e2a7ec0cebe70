import { valuesOf, type Entities, type Entity, type TopEntity } from "#probe-agent/analysis/page/structured/entity.ts";
import { FEATURES, type Feature } from "#probe-agent/analysis/page/structured/features.ts";
import { collectMissing } from "#probe-agent/analysis/page/structured/missing.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/analysis/page/structured/variants.ts";

/** Result of checking an item against the requirements of a kind of rich result. */
export interface RichResult {
  readonly feature: string;
  /**
   * Whether no required property is missing and the feature has not ended. The search engine decides whether it shows
   * the result.
   */
  readonly eligible: boolean;
  readonly missing_required: readonly string[];
  readonly missing_recommended: readonly string[];
  readonly deprecated: boolean;
  readonly note: string | null;
  readonly reference: string;
  /** Date on which the documentation was read, or on which the feature ended, as YYYY-MM-DD. */
  readonly reference_date: string;
  /** Index of the top-level item that it belongs to. */
  readonly item: number;
}

type ById = Entities["byId"];

/** Properties whose entities are evaluated like top-level items. */
const EVALUATED_PROPERTIES =
  "mainEntity mainEntityOfPage breadcrumb video subjectOf itemReviewed hasPart hasMerchantReturnPolicy".split(" ");
const MAX_RESULTS = 200;
/** Maximum number of values of one property that are evaluated. */
const MAX_VALUES = 100;
/** Maximum number of missing properties listed for one item. */
const MAX_MISSING = 50;

/** Evaluates every feature for every item of a page that has one of the types of the feature. */
export function richResults(entities: Entities): RichResult[] {
  const { top, byId } = entities;
  const results: RichResult[] = [];
  const seen = new Set<Entity>();
  const { withGroupProperties } = findVariants(entities);
  for (const [item, one] of top.entries()) {
    for (const entity of candidates(one, byId)) {
      if (seen.has(entity)) continue;
      seen.add(entity);
      for (const feature of FEATURES) {
        if (results.length >= MAX_RESULTS) return results;
        if (applies(feature, entity, byId)) results.push(evaluate(feature, withGroupProperties(entity), item, byId));
      }
    }
  }
  return results;
}

function candidates({ entity, usesSchemaOrg }: TopEntity, byId: ById): Entity[] {
  if (!usesSchemaOrg) return [];
  const inner = EVALUATED_PROPERTIES.flatMap((name) => valuesOf(entity, name, byId).slice(0, MAX_VALUES));
  const variants = valuesOf(entity, "hasVariant", byId).slice(0, MAX_VARIANTS);
  const listed = entity.types.includes("ItemList") ? listedEntities(entity, byId) : [];
  return [entity, ...[...inner, ...variants, ...listed].filter((value) => typeof value === "object")];
}

/** Returns the entities of a list: its elements, and the items that the elements hold. */
function listedEntities(list: Entity, byId: ById): (string | Entity)[] {
  return valuesOf(list, "itemListElement", byId)
    .slice(0, MAX_VALUES)
    .flatMap((element) => (typeof element === "object" ? [element, ...valuesOf(element, "item", byId)] : []));
}

function applies({ types, condition }: Feature, entity: Entity, byId: ById): boolean {
  return entity.types.some((type) => types.has(type)) && (condition === null || condition(entity, byId));
}

function evaluate(feature: Feature, entity: Entity, item: number, byId: ById): RichResult {
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
