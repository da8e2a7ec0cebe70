import { valuesOf, type Entities, type Entity } from "#probe-agent/analysis/page/structured/entity.ts";

/** Maximum number of variants of one product that are evaluated. The other variants come from the same template. */
export const MAX_VARIANTS = 10;
/** Properties of a group that its variants do not inherit (schema.org/ProductGroup). */
const NOT_INHERITED = new Set(["hasVariant", "isVariantOf", "productGroupID", "url", "variesBy"]);

/** The variants of products of a page. */
interface Variants {
  /** Returns a variant with the properties that it inherits from its group. Returns any other entity unchanged. */
  readonly withGroupProperties: (entity: Entity) => Entity;
  /** Number of variants that are not evaluated. */
  readonly omitted: number;
}

/**
 * Finds the groups of variants of a page. Either the group names its variants or a variant names its group (Google,
 * product variants).
 */
export function findVariants({ top, byId }: Entities): Variants {
  const groups = new Map<Entity, Entity>();
  let omitted = 0;
  for (const { entity } of top) {
    if (entity.types.includes("ProductGroup")) {
      const variants = valuesOf(entity, "hasVariant", byId).filter((value) => typeof value === "object");
      for (const variant of variants) groups.set(variant, entity);
      omitted += Math.max(0, variants.length - MAX_VARIANTS);
    }
    const group = valuesOf(entity, "isVariantOf", byId).find((value) => typeof value === "object");
    if (group !== undefined) groups.set(entity, group);
  }
  return {
    omitted,
    withGroupProperties: (entity) => {
      const group = groups.get(entity);
      if (group === undefined) return entity;
      const shared = [...group.properties].filter(([name]) => !NOT_INHERITED.has(name));
      return { ...entity, properties: new Map([...shared, ...entity.properties]) };
    },
  };
}
