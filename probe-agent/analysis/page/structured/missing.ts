import {
  resolvedValues,
  type Entities,
  type Entity,
  type EntityValue,
} from "#probe-agent/analysis/page/structured/entity.ts";
import { shape as shapeOf, type Need, type Shape } from "#probe-agent/analysis/page/structured/shape.ts";

/** Paths of the properties that an entity lacks. Alternatives are joined by "or". */
interface Missing {
  readonly required: readonly string[];
  readonly recommended: readonly string[];
}

type ById = Entities["byId"];

/** Maximum number of values of one property that are checked. */
const MAX_VALUES = 100;
const EMPTY_SHAPE = shapeOf("");
/** Properties that hold images. An image is given by its address or as an entity that has one. */
const IMAGES = new Set(["image", "logo", "thumbnailUrl"]);

/** Returns the properties of a shape that an entity lacks. Recursion is no deeper than the tables of shapes. */
export function collectMissing(shape: Shape, entity: Entity, byId: ById): Missing {
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
