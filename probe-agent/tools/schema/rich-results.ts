import {
  valuesOf,
  type Entities,
  type Entity,
  type TopEntity,
  resolvedValues,
  type EntityValue,
} from "#probe-agent/analysis/page/structured/entity.ts";
import { FEATURES, type Feature } from "#probe-agent/tools/schema/features.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/tools/schema/variants.ts";
import { shape as shapeOf, type Need, type Shape } from "#probe-agent/tools/schema/shape.ts";

/** Paths of the properties that an entity lacks. Alternatives are joined by "or". */
interface Missing {
  readonly required: readonly string[];
  readonly recommended: readonly string[];
}
const EMPTY_SHAPE = shapeOf("");
/** Properties that hold images. An image is given by its address or as an entity that has one. */
const IMAGES = new Set(["image", "logo", "thumbnailUrl"]);

/** Returns the properties of a shape that an entity lacks. Recursion is no deeper than the tables of shapes. */
function collectMissing(shape: Shape, entity: Entity, byId: ById): Missing {
  const missing = { required: [] as string[], recommended: [] as string[] };
  collect(shape, entity, "", byId, missing);
  return missing;
}

function collect(
  shape: Shape,
  value: EntityValue,
  at: string,
  byId: ById,
  missing: { required: string[]; recommended: string[] },
): void {
  const lacks = (need: Need): boolean => !need.some((path) => hasContentAt(shape, value, path, byId));
  const name = (need: Need): string => need.map((path) => `${at}${path}`).join(" or ");
  missing.required.push(...withoutNestedNeeds(shape.required.filter(lacks)).map(name));
  missing.recommended.push(...withoutNestedNeeds(shape.recommended.filter(lacks)).map(name));
  if (!isEntity(value)) return;
  for (const need of shape.positive) {
    const numbers = need.flatMap((path) => textsAt(value, path, byId)).map(Number);
    if (numbers.length > 0 && numbers.every((number) => number <= 0)) missing.required.push(`${name(need)} above 0`);
  }
  for (const [property, types] of Object.entries(shape.allowedTypes)) {
    const entities = resolvedValues(value, property, byId).filter(isEntity);
    const wrong = entities.find((one) => one.types.length > 0 && !one.types.some((type) => types.has(type)));
    if (wrong !== undefined) missing.required.push(`${at}${property} of a type that this feature supports`);
  }
  for (const [property, minCount] of Object.entries(shape.minCount)) {
    const count = resolvedValues(value, property, byId).length;
    if (count > 0 && count < minCount) missing.required.push(`${at}${property}[${minCount - 1}]`);
  }
  for (const [property, shapes] of Object.entries(shape.nested)) {
    const values = resolvedValues(value, property, byId).slice(0, MAX_VALUES);
    for (const [index, one] of values.entries()) {
      const path = `${at}${property}${values.length > 1 ? `[${index}]` : ""}.`;
      const inner = shapeFor(shapes, one);
      if (inner === undefined) continue;
      collect(inner, one, path, byId, missing);
      if (index === values.length - 1) continue;
      const absent = inner.requiredExceptLast.filter(
        (need) => !need.some((part) => hasContentAt(inner, one, part, byId)),
      );
      missing.required.push(...absent.map((need) => need.map((part) => `${path}${part}`).join(" or ")));
    }
  }
}

function shapeFor(shapes: Readonly<Record<string, Shape>>, value: EntityValue): Shape | undefined {
  const type = isEntity(value) ? value.types.find((one) => Object.hasOwn(shapes, one)) : undefined;
  return shapes[type ?? "*"] ?? shapes["*"];
}

/** Drops needs whose parent is itself missing, e.g. location.address without a location: they add nothing. */
function withoutNestedNeeds(needs: readonly Need[]): readonly Need[] {
  const missingPaths = new Set(needs.filter((need) => need.length === 1).map(([path = ""]) => path));
  return needs.filter((need) => !need.every((path) => parentsOf(path).some((parent) => missingPaths.has(parent))));
}

function parentsOf(path: string): string[] {
  const parts = path.split(".");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
}

/** Reports whether a value has content at a path. If the shape allows it, a text instead of an entity is its name. */
function hasContentAt(shape: Shape, value: EntityValue, path: string, byId: ById): boolean {
  if (typeof value === "string") return path === "name" && shape.textIsName && value.trim() !== "";
  if (!isEntity(value)) return false;
  const [name = "", ...rest] = path.split(".");
  return resolvedValues(value, name, byId).some((one) => {
    if (rest.length === 0) return isFilled(name, one);
    return hasContentAt(shapeFor(shape.nested[name] ?? {}, one) ?? EMPTY_SHAPE, one, rest.join("."), byId);
  });
}

function isFilled(name: string, value: EntityValue): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (!isEntity(value)) return true;
  if (IMAGES.has(name)) return value.id !== null || ["contentUrl", "url"].some((one) => value.properties.has(one));
  return value.properties.size > 0 || value.id !== null;
}

function textsAt(value: Entity, path: string, byId: ById): string[] {
  const [name = "", ...rest] = path.split(".");
  return resolvedValues(value, name, byId).flatMap((one) => {
    if (rest.length > 0) return isEntity(one) ? textsAt(one, rest.join("."), byId) : [];
    return typeof one === "string" ? [one] : [];
  });
}

function isEntity(value: EntityValue): value is Entity {
  return typeof value === "object" && !("ref" in value);
}

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
