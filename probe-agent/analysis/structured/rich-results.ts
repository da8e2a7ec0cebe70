import { valuesOf, type Entities, type Entity, type TopEntity } from "#probe-agent/analysis/structured/entity.ts";
import { FEATURES, type Feature } from "#probe-agent/analysis/structured/features.ts";
import type { Need, Shape } from "#probe-agent/analysis/structured/shapes.ts";
import { findVariants, MAX_VARIANTS } from "#probe-agent/analysis/structured/variants.ts";

/** Whether a thing has what a kind of rich result asks for. */
export interface RichResult {
  readonly feature: string;
  /** Nothing required is missing. That it is shown is up to the search engine. */
  readonly eligible: boolean;
  readonly missing_required: readonly string[];
  readonly missing_recommended: readonly string[];
  readonly deprecated: boolean;
  readonly note: string | null;
  readonly reference: string;
  /** Index of the top thing it belongs to. */
  readonly item: number;
}

type ById = Entities["byId"];

/** Properties whose things are looked at like those at the top. */
const LEADING = ["mainEntity", "mainEntityOfPage", "breadcrumb", "video", "subjectOf", "itemReviewed", "hasPart"];
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
  return [entity, ...[...inner, ...variants].filter((value) => typeof value === "object")];
}

function applies({ types, holding }: Feature, entity: Entity, byId: ById): boolean {
  if (!entity.types.some((type) => types.has(type))) return false;
  if (holding === undefined) return true;
  const held = valuesOf(entity, holding.property, byId);
  return held.some((value) => typeof value === "object" && value.types.includes(holding.type));
}

function judge(feature: Feature, entity: Entity, item: number, byId: ById): RichResult {
  const missing = { required: [] as string[], recommended: [] as string[] };
  collect(feature.shape, entity, "", byId, missing);
  const { name, deprecated, note, reference } = feature;
  return {
    feature: name,
    eligible: missing.required.length === 0,
    missing_required: missing.required.slice(0, MAX_MISSING),
    missing_recommended: missing.recommended.slice(0, MAX_MISSING),
    deprecated,
    note,
    reference,
    item,
  };
}

interface Missing {
  readonly required: string[];
  readonly recommended: string[];
}

/** Depth is that of the tables. Text where a thing is asked for lacks everything. */
function collect(shape: Shape, entity: Entity | null, at: string, byId: ById, missing: Missing): void {
  const lacks = (need: Need): boolean => entity === null || ![need].flat().some((path) => hasPath(entity, path, byId));
  const name = (need: Need): string =>
    [need]
      .flat()
      .map((path) => `${at}${path}`)
      .join(" or ");
  missing.required.push(...shape.required.filter(lacks).map(name));
  missing.recommended.push(...shape.recommended.filter(lacks).map(name));
  if (entity === null) return;
  for (const [property, least] of Object.entries(shape.least ?? {})) {
    const count = valuesOf(entity, property, byId).length;
    if (count > 0 && count < least) missing.required.push(`${at}${property}[${least - 1}]`);
  }
  for (const [property, shapes] of Object.entries(shape.nested ?? {})) {
    const values = valuesOf(entity, property, byId).slice(0, MAX_THINGS);
    for (const [index, value] of values.entries()) {
      const path = `${at}${property}${values.length > 1 ? `[${index}]` : ""}.`;
      const thing = typeof value === "object" ? value : null;
      const inner = shapes[thing?.types.find((type) => Object.hasOwn(shapes, type)) ?? "*"] ?? shapes["*"];
      if (inner === undefined) continue;
      collect(inner, thing, path, byId, missing);
      if (index === values.length - 1) continue;
      const absent = (inner.requiredButLast ?? []).filter((need) => thing === null || !hasPath(thing, need, byId));
      missing.required.push(...absent.map((need) => `${path}${need}`));
    }
  }
}

/** Whether some value at the end of a path is not empty. */
function hasPath(entity: Entity, path: string, byId: ById): boolean {
  const [name = "", ...rest] = path.split(".");
  return valuesOf(entity, name, byId).some((value) => {
    if (typeof value === "string") return rest.length === 0 && value.trim() !== "";
    return rest.length === 0 ? value.properties.size > 0 || value.id !== null : hasPath(value, rest.join("."), byId);
  });
}
