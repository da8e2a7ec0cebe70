import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** Reports whether a feature applies to an entity of one of its types. `byId` resolves references. */
export type Condition = (entity: Entity, byId: Entities["byId"]) => boolean;

/** Maximum number of values of one property that are checked. */
const MAX = 100;

/** Returns a condition that is true if the entity has one of the properties. */
export function hasAnyOf(...properties: readonly string[]): Condition {
  return (entity) => properties.some((name) => entity.properties.has(name));
}

/** Returns a condition that is true if the property holds an entity of the type. */
export function hasEntityOfType(property: string, type: string): Condition {
  return (entity, byId) => entitiesIn(entity, property, byId).some(({ types }) => types.includes(type));
}

/**
 * Returns a condition that is true if the property holds the text, which is in lower case. The comparison ignores case
 * and the schema.org address before a value.
 */
export function hasText(property: string, text: string): Condition {
  return (entity, byId) =>
    valuesOf(entity, property, byId).some(
      (value) =>
        typeof value === "string" &&
        value
          .trim()
          .toLowerCase()
          .replace(/^https?:\/\/schema\.org\//, "") === text,
    );
}

/** Returns the negated condition. */
export function not(condition: Condition): Condition {
  return (entity, byId) => !condition(entity, byId);
}

/** Types that Google shows in a site's carousel (its page "carousel", all-in-one pages). */
const CAROUSEL_TYPES = new Set(["Course", "Movie", "Recipe", "Restaurant"]);

/** True for a list whose elements contain the entities themselves, of a type that carousels show. */
export const listsEntities: Condition = (entity, byId) =>
  entitiesIn(entity, "itemListElement", byId).some((element) =>
    entitiesIn(element, "item", byId).some(({ types }) => types.some((type) => CAROUSEL_TYPES.has(type))),
  );

/** True for a list of links to other pages: all its elements have a url and no item and no name. */
export const listsPages: Condition = (entity, byId) => {
  const elements = entitiesIn(entity, "itemListElement", byId);
  const bare = ({ properties }: Entity): boolean => properties.has("url") && !properties.has("item");
  return elements.length > 0 && elements.every((one) => bare(one) && !one.properties.has("name"));
};

function entitiesIn(entity: Entity, property: string, byId: Entities["byId"]): Entity[] {
  return valuesOf(entity, property, byId)
    .slice(0, MAX)
    .filter((value) => typeof value === "object");
}
