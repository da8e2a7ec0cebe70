import type { LocatedData } from "#probe-agent/analysis/page/html-metadata.ts";
import { isObject, type JsonLdObject } from "#probe-agent/analysis/page/structured/json-ld.ts";
import type { StructuredItem, StructuredValue } from "#probe-agent/analysis/page/structured/item.ts";
import type { ItemContents } from "#probe-agent/analysis/page/structured/microdata.ts";
import type { Json } from "#probe-agent/analysis/page/structured/lenient-json.ts";

/** An item of structured data in any syntax. Names of schema.org are without its address. */
export interface Entity {
  readonly types: readonly string[];
  readonly id: string | null;
  readonly properties: ReadonlyMap<string, readonly EntityValue[]>;
}

/** Value of a property: a text, an entity, or a reference to an entity by its address. */
export type EntityValue = string | Entity | { readonly ref: string };

/** A top-level item of its syntax. */
export interface TopEntity {
  readonly entity: Entity;
  readonly source: "json-ld" | "microdata" | "rdfa";
  /** Position in characters from the start of the page. */
  readonly offset: number;
  /** The item unchanged, for the result. */
  readonly raw: JsonLdObject | StructuredItem;
  /** Whether its names are from schema.org. Names in JSON-LD without a context have no meaning. */
  readonly usesSchemaOrg: boolean;
}

/** The entities of a page. `byId` resolves the references between them. */
export interface Entities {
  readonly top: readonly TopEntity[];
  readonly byId: ReadonlyMap<string, Entity>;
}

const SCHEMA_ORG = /^(?:https?:\/\/(?:www\.)?schema\.org\/|schema:)/i;
/** Keywords of JSON-LD, which are not properties. */
const KEYWORDS = new Set(["@context", "@id", "@type", "@graph", "@reverse", "@index", "@included", "@nest"]);
/** Maximum number of values searched for a schema.org context. */
const MAX_CONTEXTS = 50;

/** Converts the structured data of a page to entities. The members of @graph count as top-level items. */
export function readEntities(data: LocatedData): Entities {
  const byId = new Map<string, Entity>();
  const top: TopEntity[] = [];
  for (const { value, offset } of data.json_ld) {
    const usesSchemaOrg = hasSchemaContext(value["@context"]);
    for (const raw of graphOf(value))
      top.push({ entity: entityFromJsonLd(raw, byId), source: "json-ld", offset, raw, usesSchemaOrg });
  }
  for (const source of ["microdata", "rdfa"] as const) {
    for (const { value, offset } of data[source]) {
      const entity = entityFromItem(value, byId, data.contents);
      top.push({ entity, source, offset, raw: value, usesSchemaOrg: true });
    }
  }
  return { top: top.toSorted((one, other) => one.offset - other.offset), byId };
}

/** Returns the values of a property with references resolved. A reference to no entity of the page becomes a text. */
export function valuesOf(entity: Entity, name: string, byId: Entities["byId"]): (string | Entity)[] {
  return resolvedValues(entity, name, byId).map((value) =>
    typeof value === "object" && "ref" in value ? value.ref : value,
  );
}

/** Returns the values of a property. References to entities of the page are resolved, others are unchanged. */
export function resolvedValues(entity: Entity, name: string, byId: Entities["byId"]): EntityValue[] {
  return (entity.properties.get(name) ?? []).map((value) => {
    if (typeof value === "string") return value;
    if ("ref" in value) return byId.get(value.ref) ?? value;
    // An address with only a type is a reference as well, e.g. {"@type": "Person", "@id": "#jane"}.
    return value.id !== null && value.properties.size === 0 ? (byId.get(value.id) ?? value) : value;
  });
}

/** Removes the schema.org address from a name. Returns any other name unchanged. */
function shortName(name: string): string {
  return name.replace(SCHEMA_ORG, "");
}

/**
 * Returns the members of @graph, after the object itself if it has a type or properties of its own. Returns only the
 * object if it has no @graph.
 */
function graphOf(value: JsonLdObject): JsonLdObject[] {
  const graph = value["@graph"];
  if (graph === undefined) return [value];
  const members = (Array.isArray(graph) ? graph : [graph]).filter(isObject);
  const hasOwnContent = Object.keys(value).some((key) => key === "@type" || !key.startsWith("@"));
  return hasOwnContent ? [value, ...members] : members;
}

function hasSchemaContext(context: Json | undefined): boolean {
  const pending: Json[] = context === undefined ? [] : [context];
  for (let count = 0; pending.length > 0 && count < MAX_CONTEXTS; count += 1) {
    const next = pending.pop();
    if (typeof next === "string" && /^https?:\/\/(?:www\.)?schema\.org(?:$|[/#?])/i.test(next)) return true;
    if (Array.isArray(next)) pending.push(...next.slice(0, MAX_CONTEXTS));
    else if (isObject(next)) pending.push(...Object.values(next).slice(0, MAX_CONTEXTS));
  }
  return false;
}

function entityFromJsonLd(object: JsonLdObject, byId: Map<string, Entity>): Entity {
  const id = typeof object["@id"] === "string" ? object["@id"] : null;
  const properties = new Map<string, EntityValue[]>();
  for (const [key, value] of Object.entries(object)) {
    if (KEYWORDS.has(key)) continue;
    const values = jsonValues(value, byId);
    if (values.length > 0) properties.set(shortName(key), values);
  }
  return registerById({ types: strings(object["@type"]).map(shortName), id, properties }, byId);
}

function jsonValues(value: Json, byId: Map<string, Entity>): EntityValue[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => jsonValues(one, byId));
  if (!isObject(value)) return [String(value)];
  for (const holder of ["@value", "@list", "@set"]) {
    const held = value[holder];
    if (held !== undefined) return jsonValues(held, byId);
  }
  const id = value["@id"];
  if (typeof id === "string" && Object.keys(value).length === 1) return [{ ref: id }];
  return [entityFromJsonLd(value, byId)];
}

function entityFromItem(item: StructuredItem, byId: Map<string, Entity>, contents: ItemContents): Entity {
  const properties = new Map<string, EntityValue[]>();
  for (const [name, values] of Object.entries(contents.get(item) ?? item.properties)) {
    properties.set(
      shortName(name),
      values.map((value) => itemValue(value, byId, contents)),
    );
  }
  return registerById({ types: item.type.map(shortName), id: item.id ?? null, properties }, byId);
}

function itemValue(value: StructuredValue, byId: Map<string, Entity>, contents: ItemContents): EntityValue {
  return typeof value === "string" ? value : entityFromItem(value, byId, contents);
}

/** Registers an entity under its address and returns it. The first entity with properties keeps the address. */
function registerById(entity: Entity, byId: Map<string, Entity>): Entity {
  if (entity.id !== null && entity.properties.size > 0 && !byId.has(entity.id)) byId.set(entity.id, entity);
  return entity;
}

function strings(value: Json | undefined): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
}
