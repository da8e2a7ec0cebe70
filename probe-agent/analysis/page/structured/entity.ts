import type { LocatedData } from "#probe-agent/analysis/html-metadata.ts";
import { isObject, type JsonLdObject } from "#probe-agent/analysis/page/structured/json-ld.ts";
import type { StructuredItem, StructuredValue } from "#probe-agent/analysis/page/structured/item.ts";
import type { ItemContents } from "#probe-agent/analysis/page/structured/microdata.ts";
import type { Json } from "#probe-agent/analysis/page/structured/lenient-json.ts";

/** A thing, whatever syntax it was written in; names of schema.org without its address. */
export interface Entity {
  readonly types: readonly string[];
  readonly id: string | null;
  readonly properties: ReadonlyMap<string, readonly EntityValue[]>;
}

/** Text, a thing, or the address of one that stands elsewhere on the page. */
export type EntityValue = string | Entity | { readonly ref: string };

/** A thing at the top of its syntax. */
export interface TopEntity {
  readonly entity: Entity;
  readonly source: "json-ld" | "microdata" | "rdfa";
  readonly offset: number;
  /** As written, for showing. */
  readonly raw: JsonLdObject | StructuredItem;
  /** Its words are those of schema.org: JSON-LD without a context means nothing. */
  readonly understood: boolean;
}

/** The things of a page and where references between them lead. */
export interface Entities {
  readonly top: readonly TopEntity[];
  readonly byId: ReadonlyMap<string, Entity>;
}

const SCHEMA_ORG = /^(?:https?:\/\/(?:www\.)?schema\.org\/|schema:)/i;
/** Keys of JSON-LD that are no properties. */
const KEYWORDS = new Set(["@context", "@id", "@type", "@graph", "@reverse", "@index", "@included", "@nest"]);
/** Things followed when a context is looked for. */
const MAX_CONTEXTS = 50;

/** One view of all things of a page. The members of @graph count as things at the top. */
export function readEntities(data: LocatedData): Entities {
  const byId = new Map<string, Entity>();
  const top: TopEntity[] = [];
  for (const { value, offset } of data.json_ld) {
    const understood = hasSchemaContext(value["@context"]);
    for (const raw of graphOf(value))
      top.push({ entity: fromJson(raw, byId), source: "json-ld", offset, raw, understood });
  }
  for (const source of ["microdata", "rdfa"] as const) {
    for (const { value, offset } of data[source]) {
      top.push({ entity: fromItem(value, byId, data.contents), source, offset, raw: value, understood: true });
    }
  }
  return { top: top.toSorted((one, other) => one.offset - other.offset), byId };
}

/** The values of a property, references followed; the address of a thing that is not on the page is text. */
export function valuesOf(entity: Entity, name: string, byId: Entities["byId"]): (string | Entity)[] {
  return resolvedValues(entity, name, byId).map((value) =>
    typeof value === "object" && "ref" in value ? value.ref : value,
  );
}

/** The values of a property, references followed where they lead to a thing of the page. */
export function resolvedValues(entity: Entity, name: string, byId: Entities["byId"]): EntityValue[] {
  return (entity.properties.get(name) ?? []).map((value) => {
    if (typeof value === "string") return value;
    if ("ref" in value) return byId.get(value.ref) ?? value;
    // A type beside the address says nothing more: {"@type": "Person", "@id": "#jane"} is a reference as well.
    return value.id !== null && value.properties.size === 0 ? (byId.get(value.id) ?? value) : value;
  });
}

/** A name of schema.org without its address; any other as it is. */
function shortName(name: string): string {
  return name.replace(SCHEMA_ORG, "");
}

/** Things under @graph, whatever else the object says; the object itself where it has no @graph. */
function graphOf(value: JsonLdObject): JsonLdObject[] {
  const graph = value["@graph"];
  if (graph === undefined) return [value];
  const members = (Array.isArray(graph) ? graph : [graph]).filter(isObject);
  const speaks = Object.keys(value).some((key) => key === "@type" || !key.startsWith("@"));
  return speaks ? [value, ...members] : members;
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

function fromJson(object: JsonLdObject, byId: Map<string, Entity>): Entity {
  const id = typeof object["@id"] === "string" ? object["@id"] : null;
  const properties = new Map<string, EntityValue[]>();
  for (const [key, value] of Object.entries(object)) {
    if (KEYWORDS.has(key)) continue;
    const values = jsonValues(value, byId);
    if (values.length > 0) properties.set(shortName(key), values);
  }
  return remember({ types: strings(object["@type"]).map(shortName), id, properties }, byId);
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
  return [fromJson(value, byId)];
}

function fromItem(item: StructuredItem, byId: Map<string, Entity>, contents: ItemContents): Entity {
  const properties = new Map<string, EntityValue[]>();
  for (const [name, values] of Object.entries(contents.get(item) ?? item.properties)) {
    properties.set(
      shortName(name),
      values.map((value) => itemValue(value, byId, contents)),
    );
  }
  return remember({ types: item.type.map(shortName), id: item.id ?? null, properties }, byId);
}

function itemValue(value: StructuredValue, byId: Map<string, Entity>, contents: ItemContents): EntityValue {
  return typeof value === "string" ? value : fromItem(value, byId, contents);
}

/** The first thing that says something under an address is what others mean by it. */
function remember(entity: Entity, byId: Map<string, Entity>): Entity {
  if (entity.id !== null && entity.properties.size > 0 && !byId.has(entity.id)) byId.set(entity.id, entity);
  return entity;
}

function strings(value: Json | undefined): string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
}
