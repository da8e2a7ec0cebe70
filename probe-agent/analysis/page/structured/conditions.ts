import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** Whether a thing of a feature's type is meant for that feature. */
export type Condition = (entity: Entity, byId: Entities["byId"]) => boolean;

/** Values and things looked at. */
const MAX = 100;

/** One of these properties is there. */
export function has(...properties: readonly string[]): Condition {
  return (entity) => properties.some((name) => entity.properties.has(name));
}

/** The property holds a thing of that type. */
export function holds(property: string, type: string): Condition {
  return (entity, byId) => thingsIn(entity, property, byId).some(({ types }) => types.includes(type));
}

/** The property holds that text, case and the address of schema.org aside. */
export function says(property: string, text: string): Condition {
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

/** The opposite. */
export function not(condition: Condition): Condition {
  return (entity, byId) => !condition(entity, byId);
}

/** Types of which a site may have a carousel (carousel, all-in-one pages). */
const CAROUSEL_TYPES = new Set(["Course", "Movie", "Recipe", "Restaurant"]);

/** A list whose elements are such things themselves. */
export const listsThings: Condition = (entity, byId) =>
  thingsIn(entity, "itemListElement", byId).some((element) =>
    thingsIn(element, "item", byId).some(({ types }) => types.some((type) => CAROUSEL_TYPES.has(type))),
  );

/** A list of links to other pages: elements with an address and without a thing or a name. */
export const listsPages: Condition = (entity, byId) => {
  const elements = thingsIn(entity, "itemListElement", byId);
  const bare = ({ properties }: Entity): boolean => properties.has("url") && !properties.has("item");
  return elements.length > 0 && elements.every((one) => bare(one) && !one.properties.has("name"));
};

function thingsIn(entity: Entity, property: string, byId: Entities["byId"]): Entity[] {
  return valuesOf(entity, property, byId)
    .slice(0, MAX)
    .filter((value) => typeof value === "object");
}
