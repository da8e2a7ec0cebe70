import { Value } from "typebox/value";
import type { Static, TObject, TSchema } from "typebox";
import { convertField, type Converted, type Origin } from "#shared/schema/convert.ts";
import { isRawNumber, roundNumber } from "#shared/json/exact.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { problemInside } from "#shared/schema/nested-problem.ts";
import { findOversize, firstUnknown } from "#shared/schema/oversize.ts";
import { describeProblem, type FieldProblem, type Read } from "#shared/schema/problem.ts";

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
