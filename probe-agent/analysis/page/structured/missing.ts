import {
  resolvedValues,
  type Entities,
  type Entity,
  type EntityValue,
} from "#probe-agent/analysis/page/structured/entity.ts";
import { shape as shapeOf, type Need, type Shape } from "#probe-agent/analysis/page/structured/shape.ts";

/** Paths of properties that are not there, alternatives joined by "or". */
interface Missing {
  readonly required: readonly string[];
  readonly recommended: readonly string[];
}

type ById = Entities["byId"];

/** Things of one property looked at. */
const MAX_THINGS = 100;
/** Images are given by address or as things with one. */
const NOTHING = shapeOf("");
const IMAGES = new Set(["image", "logo", "thumbnailUrl"]);

/** What a thing lacks of what a shape asks for. Depth is that of the tables. */
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
  const lacks = (need: Need): boolean => !need.some((path) => offers(shape, value, path, byId));
  const name = (need: Need): string => need.map((path) => `${at}${path}`).join(" or ");
  missing.required.push(...withoutParts(shape.required.filter(lacks)).map(name));
  missing.recommended.push(...withoutParts(shape.recommended.filter(lacks)).map(name));
  if (!isThing(value)) return;
  for (const need of shape.positive) {
    const numbers = need.flatMap((path) => textsAt(value, path, byId)).map(Number);
    if (numbers.length > 0 && numbers.every((number) => number <= 0)) missing.required.push(`${name(need)} above 0`);
  }
  for (const [property, types] of Object.entries(shape.typed)) {
    const things = resolvedValues(value, property, byId).filter(isThing);
    const wrong = things.find((thing) => thing.types.length > 0 && !thing.types.some((type) => types.has(type)));
    if (wrong !== undefined) missing.required.push(`${at}${property} of a type that has this feature`);
  }
  for (const [property, least] of Object.entries(shape.least)) {
    const count = resolvedValues(value, property, byId).length;
    if (count > 0 && count < least) missing.required.push(`${at}${property}[${least - 1}]`);
  }
  for (const [property, shapes] of Object.entries(shape.nested)) {
    const values = resolvedValues(value, property, byId).slice(0, MAX_THINGS);
    for (const [index, one] of values.entries()) {
      const path = `${at}${property}${values.length > 1 ? `[${index}]` : ""}.`;
      const inner = shapeFor(shapes, one);
      if (inner === undefined) continue;
      collect(inner, one, path, byId, missing);
      if (index === values.length - 1) continue;
      const absent = inner.requiredButLast.filter((need) => !need.some((part) => offers(inner, one, part, byId)));
      missing.required.push(...absent.map((need) => need.map((part) => `${path}${part}`).join(" or ")));
    }
  }
}

function shapeFor(shapes: Readonly<Record<string, Shape>>, value: EntityValue): Shape | undefined {
  const type = isThing(value) ? value.types.find((one) => Object.hasOwn(shapes, one)) : undefined;
  return shapes[type ?? "*"] ?? shapes["*"];
}

/** Rows below one that is missing itself say nothing new, e.g. location.address without a location. */
function withoutParts(needs: readonly Need[]): readonly Need[] {
  const whole = new Set(needs.filter((need) => need.length === 1).map(([path = ""]) => path));
  return needs.filter((need) => !need.every((path) => parentsOf(path).some((parent) => whole.has(parent))));
}

function parentsOf(path: string): string[] {
  const parts = path.split(".");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("."));
}

/** Whether a value has something at the end of a path. A text in the place of a thing may count as its name. */
function offers(shape: Shape, value: EntityValue, path: string, byId: ById): boolean {
  if (typeof value === "string") return path === "name" && shape.textNames && value.trim() !== "";
  if (!isThing(value)) return false;
  const [name = "", ...rest] = path.split(".");
  return resolvedValues(value, name, byId).some((one) => {
    if (rest.length === 0) return isFilled(name, one);
    return offers(shapeFor(shape.nested[name] ?? {}, one) ?? NOTHING, one, rest.join("."), byId);
  });
}

function isFilled(name: string, value: EntityValue): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (!isThing(value)) return true;
  if (IMAGES.has(name)) return value.id !== null || ["contentUrl", "url"].some((one) => value.properties.has(one));
  return value.properties.size > 0 || value.id !== null;
}

function textsAt(value: Entity, path: string, byId: ById): string[] {
  const [name = "", ...rest] = path.split(".");
  return resolvedValues(value, name, byId).flatMap((one) => {
    if (rest.length > 0) return isThing(one) ? textsAt(one, rest.join("."), byId) : [];
    return typeof one === "string" ? [one] : [];
  });
}

function isThing(value: EntityValue): value is Entity {
  return typeof value === "object" && !("ref" in value);
}
