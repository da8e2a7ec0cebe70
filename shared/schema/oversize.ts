import type { TSchema } from "typebox";
import { isRecord } from "#shared/text/is-record.ts";
import { describeBound, type FieldProblem } from "#shared/schema/problem.ts";

/** The JSON Schema keywords that bound the size of a value, and those that lead to its parts. */
interface Sized {
  readonly type?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Sized;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Sized>>;
  readonly additionalProperties?: boolean | Sized;
  readonly patternProperties?: Readonly<Record<string, Sized>>;
  readonly anyOf?: readonly Sized[];
  readonly oneOf?: readonly Sized[];
}

/**
 * Finds the first list, object or text in a value that is larger than its schema allows; null if there is none. The
 * parts of one that is too large are not looked at, so that the time depends on the schema and not on the value. What the
 * schema does not describe is not looked at either. `field` names the value; its parts have dotted paths.
 */
export function findOversize(field: string, schema: TSchema, value: unknown): FieldProblem | null {
  // Texts that are no parts are measured where they are converted, which has the words for them.
  return typeof value === "string" ? null : find(field, schema, value);
}

/** Maximum length of a name that an answer repeats, in characters. */
const LONGEST_NAME = 200;

function find(field: string, schema: Sized, value: unknown): FieldProblem | null {
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return findInBranches(field, branches, value);
  if (typeof value === "string") return findInText(field, schema, value);
  if (Array.isArray(value)) return schema.type === "array" ? findInList(field, schema, value) : null;
  return isRecord(value) && schema.type === "object" ? findInObject(field, schema, value) : null;
}

/** A value is too large for alternatives if it is so for each one that can be meant. */
function findInBranches(field: string, branches: readonly Sized[], value: unknown): FieldProblem | null {
  // The check of the type tells the length of a text among alternatives at once.
  const type = Array.isArray(value) ? "array" : isRecord(value) ? "object" : null;
  const meant = branches.filter((branch) => branch.type === type);
  const problems = meant.map((branch) => find(field, branch, value));
  return problems.includes(null) ? null : (problems[0] ?? null);
}

/** JSON Schema counts characters; a character is at most two code units. */
function findInText(field: string, { maxLength = Infinity }: Sized, text: string): FieldProblem | null {
  return text.length > 2 * maxLength ? tooLarge(field, "maxLength", maxLength) : null;
}

function findInList(
  field: string,
  { items, maxItems = Infinity }: Sized,
  list: readonly unknown[],
): FieldProblem | null {
  if (list.length > maxItems) return tooLarge(field, "maxItems", maxItems);
  if (items === undefined || !isSized(items)) return null;
  for (let index = 0; index < list.length; index += 1) {
    const problem = find(`${field}.${index}`, items, list[index]);
    if (problem !== null) return problem;
  }
  return null;
}

/** Reports whether values of a schema can be too large. */
function isSized({ type, anyOf, oneOf }: Sized): boolean {
  if (anyOf !== undefined || oneOf !== undefined) return true;
  return type === "string" || type === "array" || type === "object";
}

function findInObject(field: string, schema: Sized, object: Readonly<Record<string, unknown>>): FieldProblem | null {
  const { properties = {}, additionalProperties, patternProperties = {}, maxProperties = Infinity } = schema;
  const [values = isRecord(additionalProperties) ? additionalProperties : undefined] = Object.values(patternProperties);
  if (maxProperties < Infinity && hasMoreKeys(object, maxProperties)) {
    return tooLarge(field, "maxProperties", maxProperties);
  }
  if (values !== undefined) {
    return findInMembers(field, Object.keys(object), () => values, object);
  }
  const names = Object.keys(properties);
  if (additionalProperties === false) {
    const unknown = unknownAmongMore(object, properties, names.length);
    if (unknown !== null) return { field: `${field}.${unknown}`, reason: "unknown", message: "no such field" };
  }
  const present = names.filter((name) => Object.hasOwn(object, name));
  return findInMembers(field, present, (name) => properties[name] ?? {}, object);
}

function findInMembers(
  field: string,
  names: readonly string[],
  schemaOf: (name: string) => Sized,
  object: Readonly<Record<string, unknown>>,
): FieldProblem | null {
  for (const name of names) {
    const problem = find(`${field}.${name.slice(0, LONGEST_NAME)}`, schemaOf(name), object[name]);
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns the first unknown key of an object that has more keys than are known; null if it has not. */
function unknownAmongMore(object: Readonly<Record<string, unknown>>, known: object, most: number): string | null {
  let count = 0;
  let unknown: string | null = null;
  // In one loop: each one over an object makes a list of its keys first.
  for (const name in object) {
    if (unknown === null && !Object.hasOwn(known, name)) unknown = name.slice(0, LONGEST_NAME);
    count += 1;
    if (count > most) return unknown;
  }
  return null;
}

/** Reports whether an object of JSON has more than this number of keys. */
export function hasMoreKeys(object: Readonly<Record<string, unknown>>, most: number): boolean {
  let count = 0;
  for (const _ in object) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

/** Returns the first key of an object of JSON that is not known, cut if it is long; null if all are. */
export function firstUnknown(
  object: Readonly<Record<string, unknown>>,
  isKnown: (name: string) => boolean,
): string | null {
  for (const name in object) if (!isKnown(name)) return name.slice(0, LONGEST_NAME);
  return null;
}

function tooLarge(field: string, bound: "maxLength" | "maxItems" | "maxProperties", most: number): FieldProblem {
  return { field, reason: "range", message: describeBound(bound, most) ?? "is too large" };
}
