import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** Variants of one product that are looked at: the others are made by the same template. */
export const MAX_VARIANTS = 10;
/** What a group does not say of its variants (schema.org/ProductGroup). */
const OWN = new Set(["hasVariant", "isVariantOf", "productGroupID", "url", "variesBy"]);

/** Variants of products with all that is known of them, and whose variants there are too many of. */
interface Variants {
  /** A variant together with what its group says of all; any other thing as it is. */
  readonly whole: (entity: Entity) => Entity;
  /** Variants that are left out. */
  readonly left: number;
}

/** Finds the groups of variants of a page, whichever side names the other (Google, product variants). */
export function findVariants({ top, byId }: Entities): Variants {
  const groups = new Map<Entity, Entity>();
  let left = 0;
  for (const { entity } of top) {
    if (entity.types.includes("ProductGroup")) {
      const variants = valuesOf(entity, "hasVariant", byId).filter((value) => typeof value === "object");
      for (const variant of variants) groups.set(variant, entity);
      left += Math.max(0, variants.length - MAX_VARIANTS);
    }
    const group = valuesOf(entity, "isVariantOf", byId).find((value) => typeof value === "object");
    if (group !== undefined) groups.set(entity, group);
  }
  return {
    left,
    whole: (entity) => {
      const group = groups.get(entity);
      if (group === undefined) return entity;
      const shared = [...group.properties].filter(([name]) => !OWN.has(name));
      return { ...entity, properties: new Map([...shared, ...entity.properties]) };
    },
  };
}
