import { Value } from "typebox/value";
import type { Static, TObject, TSchema } from "typebox";
import { isRawNumber, roundNumber } from "#shared/json/exact.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { findOversize, firstUnknown } from "#shared/schema/oversize.ts";
import {
  describeProblem,
  type FieldProblem,
  type Read,
  describeBound,
  typeInWords,
  type ProblemReason,
  literalsOf,
  type Bounds,
} from "#shared/schema/problem.ts";

/** Options for reading raw parameters. */
export interface ParseOptions {
  readonly from: Origin;
  /** Whether unknown fields are ignored (by a tool) or rejected (by a JSON write). */
  readonly unknown: "ignore" | "refuse";
  /** Fields of responses that writes are allowed to send back. They are dropped. */
  readonly readOnly?: readonly string[];
  /** The same within fields that are objects, by field. */
  readonly readOnlyInside?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Parsed values with defaults filled in, or the first problem in the schema's own field order. */
export type Parsed<T> = Read<T>;

/**
 * Validates parameters for every surface. Values are read by the field's kind (shared/tools/fields.ts) and JSON type.
 * Decimal integers and 0/1/true/false may be text unless `from` is "strict"; nothing else is coerced. Sizes come before
 * shapes: no part of a list, an object or a text that is too large is looked at.
 */
export function parseParams<T extends TObject>(
  schema: T,
  raw: Readonly<Record<string, unknown>>,
  options: ParseOptions,
): Parsed<Static<T>> {
  if (Object.hasOwn(raw, "__proto__")) return refuse("__proto__", "unknown", "remove this field");
  const required = new Set<string>((schema as { required?: readonly string[] }).required);
  const value: Record<string, unknown> = {};
  for (const [field, fieldSchema] of Object.entries<TSchema>(schema.properties)) {
    const whole: unknown = Object.hasOwn(raw, field) ? raw[field] : undefined;
    const given = withoutReadOnly(whole, options.readOnlyInside?.get(field));
    const absent = given === undefined || (given === "" && required.has(field));
    if (!absent) {
      const converted: Converted = readField(field, fieldSchema, given, options.from);
      if (!converted.ok) return converted;
      value[field] = converted.value;
    } else if ("default" in fieldSchema) {
      value[field] = fieldSchema.default;
    } else if (required.has(field)) {
      return refuse(field, "required", describeProblem("required", fieldSchema));
    }
  }
  if (options.unknown === "refuse") {
    const readOnly = new Set(options.readOnly);
    const extra = firstUnknown(raw, (field) => Object.hasOwn(schema.properties, field) || readOnly.has(field));
    if (extra !== null) {
      return refuse(extra, "unknown", `no such field; allowed: ${Object.keys(schema.properties).join(", ")}`);
    }
  }
  return { ok: true, value: value as Static<T> };
}

/** Maximum number of fields that are kept of an object: more than any has, so that an unknown one is always among them. */
const MOST_KEPT = 100;

/** Drops the fields of an object that writes are allowed to send back. */
function withoutReadOnly(value: unknown, names: ReadonlySet<string> | undefined): unknown {
  if (names === undefined || !isRecord(value)) return value;
  const kept: [string, unknown][] = [];
  for (const name in value) {
    if (kept.length > MOST_KEPT) break;
    if (!names.has(name)) kept.push([name, value[name]]);
  }
  return Object.fromEntries(kept);
}

function readField(field: string, schema: TSchema, given: unknown, from: Origin): Converted {
  const inner = nonNullOf(schema);
  if (inner !== null)
    return given === null ? { ok: true, value: null } : orNull(field, readField(field, inner, given, from));
  const oversize = findOversize(field, schema, given);
  if (oversize !== null) {
    // One message says what all alternatives allow.
    return "anyOf" in schema
      ? refuse(field, "type", describeProblem("type", schema))
      : { ok: false, problem: oversize };
  }
  const converted = convertField(field, schema, given, from);
  if (!converted.ok || "x-kind" in schema || Value.Check(schema, rounded(converted.value))) return converted;
  if ("anyOf" in schema) return refuse(field, "type", describeProblem("type", schema));
  const problem = problemInside(field, schema, rounded(converted.value));
  return { ok: false, problem: problem ?? { field, reason: "type", message: describeProblem("type", schema) } };
}

/** Returns an object with JavaScript numbers in place of those with their digits, which the schemas do not know. */
function rounded(value: unknown): unknown {
  if (!isRecord(value) || !Object.values(value).some(isRawNumber)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, isRawNumber(v) ? roundNumber(v) : v]));
}

/** Returns the schema of a nullable field's other values; null if the schema is no such alternative. */
function nonNullOf(schema: TSchema): TSchema | null {
  const { anyOf = [] } = schema as { readonly anyOf?: readonly (TSchema & { readonly type?: string })[] };
  const [inner, nothing] = anyOf;
  return anyOf.length === 2 && inner !== undefined && nothing?.type === "null" ? inner : null;
}

/** Adds to a problem with the whole field that it can be null. Problems inside the value are unchanged. */
function orNull(field: string, converted: Converted): Converted {
  if (converted.ok || converted.problem.field !== field) return converted;
  const { problem } = converted;
  return { ok: false, problem: { ...problem, message: `${problem.message}, or null` } };
}

function refuse(field: string, reason: FieldProblem["reason"], message: string): { ok: false; problem: FieldProblem } {
  return { ok: false, problem: { field, reason, message } };
}

/** Describes the first problem inside a value in the API's terms; the library's messages mention schemas. `field` gets the path. */
export function problemInside(field: string, schema: TSchema, value: unknown): FieldProblem | null {
  const [first] = Value.Errors(schema, value);
  if (first === undefined) return null;
  const { keyword, instancePath, params } = first as Fault;
  const path = `${field}${instancePath.replaceAll("/", ".")}`;
  const problem = (reason: ProblemReason, message: string, name?: string): FieldProblem => ({
    field: name === undefined ? path : `${path}.${name}`,
    reason,
    message,
  });
  switch (keyword) {
    case "required":
      return problem("required", "is required", params.requiredProperties?.[0]);
    // The library's keyword for a property that `additionalProperties: false` rejects.
    case "boolean":
      return problem("unknown", "no such field");
    case "enum":
      return problem("enum", `must be one of ${(params.allowedValues ?? []).map(String).join(", ")}`);
    case "const":
      return problem("enum", `must be ${String(params.allowedValue)}`);
    case "type":
      return problem("type", `must be ${[params.type ?? []].flat().map(typeInWords).join(" or ")}`);
    default: {
      const bound = describeBound(keyword, params.limit ?? params.multipleOf ?? 0);
      return bound === null ? problem("type", "does not have the documented form") : problem("range", bound);
    }
  }
}

/** The used fields of a library error (Ajv's shape). */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: {
    readonly type?: string | readonly string[];
    readonly limit?: number;
    readonly multipleOf?: number;
    readonly allowedValue?: unknown;
    readonly allowedValues?: readonly unknown[];
    readonly requiredProperties?: readonly string[];
  };
}

/** A converted field, or the problem with it. */
type Converted =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: FieldProblem };

/** The origin of raw values: query and form (text), a JSON body, or a caller that uses the published types (strict). */
type Origin = "text" | "json" | "strict";

interface Kinded extends Bounds {
  readonly "x-kind"?: string;
  readonly "x-items"?: Bounds;
  readonly "x-max-items"?: number;
}

// Names, ids and notes contain no control characters. PostgreSQL accepts neither NUL nor half of a surrogate pair.
const CONTROL = /\p{Cc}/u;
// More digits than any field allows; keeps Number() exact.
const DECIMAL_INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;
const DECIMAL_NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
/** More characters than any word of a closed set has: longer texts are not compared. */
const LONGEST_WORD = 200;
const FLAGS = new Map<unknown, boolean>([
  ["1", true],
  ["true", true],
  [1, true],
  [true, true],
  ["0", false],
  ["false", false],
  [0, false],
  [false, false],
]);

/** Converts one value by its schema. Objects and arrays of a JSON body are left to the schema check. */
function convertField(field: string, schema: TSchema, given: unknown, from: Origin): Converted {
  const kinded = schema as Kinded;
  const problem = (reason: ProblemReason, message = describeProblem(reason, schema)): Converted => ({
    ok: false,
    problem: { field, reason, message },
  });
  const eitherWay = from !== "text" && kinded.anyOf?.some(({ type }) => type === "array") === true;
  if (Array.isArray(given) && kinded.type !== "array" && !eitherWay) {
    if (from === "text") return problem("duplicate", "was given twice; give one value");
    return kinded["x-kind"] === "flag" ? problem("type", describeFlag(from)) : problem("type");
  }
  if (kinded["x-kind"] === "flag") {
    const flag = FLAGS.get(given);
    return flag === undefined ? problem("enum", describeFlag(from)) : { ok: true, value: flag };
  }
  if (kinded["x-kind"] === "list") return convertList(field, kinded, given);
  const closed = literalsOf(kinded);
  if (closed.length > 0) {
    if (typeof given !== "string") return problem("type", `must be a string: one of ${closed.join(", ")}`);
    const caseless = kinded["x-kind"] === "word" && given.length <= LONGEST_WORD ? given.toLowerCase() : null;
    const word = closed.find((one) => one === given || one.toLowerCase() === caseless);
    return word === undefined ? problem("enum") : { ok: true, value: word };
  }
  switch (kinded.type) {
    case "integer":
    case "number": {
      const number = readNumber(given, kinded.type, from);
      if (number === null) return problem("type", `must be a decimal ${kinded.type}`);
      return within(number, kinded) ? { ok: true, value: number } : problem("range");
    }
    case "boolean": {
      const flag = from === "strict" && typeof given !== "boolean" ? undefined : FLAGS.get(given);
      return flag === undefined ? problem("type", "must be true or false") : { ok: true, value: flag };
    }
    case "string": {
      if (typeof given !== "string") return problem("type");
      const fits = given.length >= (kinded.minLength ?? 0) && given.length <= (kinded.maxLength ?? Infinity);
      if (!fits) return problem("range");
      // Fields with a kind have their own readers.
      const isClean = "x-kind" in kinded || (given.isWellFormed() && !CONTROL.test(given));
      return isClean ? { ok: true, value: given } : problem("type", "must not contain control characters");
    }
    default:
      return { ok: true, value: given };
  }
}

/** Describes the allowed values of a flag in terms of the caller's schema. */
function describeFlag(from: Origin): string {
  return from === "strict" ? "must be true or false" : "must be 0 or 1";
}

function readNumber(given: unknown, type: "integer" | "number", from: Origin): number | null {
  if (typeof given === "number") {
    return (type === "integer" ? Number.isSafeInteger(given) : Number.isFinite(given)) ? given : null;
  }
  if (typeof given !== "string" || from === "strict") return null;
  return (type === "integer" ? DECIMAL_INTEGER : DECIMAL_NUMBER).test(given) ? Number(given) : null;
}

function within(value: number, bounds: Bounds): boolean {
  const isStep = bounds.multipleOf === undefined || value % bounds.multipleOf === 0;
  return isStep && value >= (bounds.minimum ?? -Infinity) && value <= (bounds.maximum ?? Infinity);
}

function convertList(field: string, schema: Kinded, given: unknown): Converted {
  const items = schema["x-items"] ?? {};
  const limit = schema["x-max-items"] ?? Infinity;
  const allowed =
    items.enum === undefined
      ? `integers between ${items.minimum} and ${items.maximum}`
      : `any of ${items.enum.join(", ")}`;
  const refuseList = (reason: ProblemReason, message: string): Converted => ({
    ok: false,
    problem: { field, reason, message },
  });
  if (typeof given !== "string") return refuseList("type", `must be a comma-separated string of ${allowed}`);
  if (given.length > (schema.maxLength ?? Infinity)) return refuseList("range", describeProblem("range", schema));
  const parts = given.split(",", 1_000).map((part) => part.trim());
  const values = new Set<unknown>();
  for (const part of parts) {
    if (items.enum === undefined) {
      if (!DECIMAL_INTEGER.test(part)) return refuseList("type", `must be a comma-separated list of ${allowed}`);
      if (!within(Number(part), items)) return refuseList("range", `must contain only ${allowed}`);
      values.add(Number(part));
    } else {
      const caseless = part.length <= LONGEST_WORD ? part.toLowerCase() : null;
      const word = items.enum.find((candidate) => String(candidate).toLowerCase() === caseless);
      if (word === undefined) return refuseList("enum", `must be a comma-separated list of ${allowed}`);
      values.add(word);
    }
  }
  if (values.size > limit) return refuseList("range", `must have at most ${limit} items`);
  return { ok: true, value: [...values] };
}
