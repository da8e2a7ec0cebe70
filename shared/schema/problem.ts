import type { TSchema } from "typebox";

/** Why a parameter is rejected: `error.reason` of a 400. */
export type ProblemReason =
  | "required"
  | "type"
  | "range"
  | "enum"
  | "unknown"
  | "duplicate"
  | "unknown_location"
  | "invalid_url"
  | "invalid_json";

/** A rejected field: its name (dotted inside objects), the reason, and the allowed values. */
export interface FieldProblem {
  readonly field: string;
  readonly reason: ProblemReason;
  readonly message: string;
}

/** A value that was read, or the first problem with it. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: FieldProblem };

/** Returns the problem of a field as a result. */
export function refuse(
  field: string,
  reason: ProblemReason,
  message: string,
): Extract<Read<never>, { readonly ok: false }> {
  return { ok: false, problem: { field, reason, message } };
}

/** Formats a problem for an error response: the field's name once, then the message. */
export function fieldMessage({ field, message }: Pick<FieldProblem, "field" | "message">): string {
  return `${field}: ${message}.`;
}

/** The JSON Schema keywords that fields use to limit their values. */
export interface Bounds {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** Describes what a field allows, from its schema. */
export function describeProblem(reason: ProblemReason, schema: TSchema): string {
  const bounds = schema as Bounds;
  switch (reason) {
    case "required":
      return `is required${bounds.description === undefined ? "" : `: ${bounds.description}`}`;
    case "enum":
      return `must be one of ${literalsOf(bounds).join(", ")}`;
    case "range":
      return describeRange(bounds);
    default:
      return `must be ${allowedTypes(bounds)}`;
  }
}

/** The maximum number of stepped values that a message lists. */
const MOST_LISTED = 10;

function describeRange({ type, minLength = 0, maxLength, minimum, maximum, multipleOf }: Bounds): string {
  if (type === "string") {
    if (maxLength === undefined) return `must have at least ${minLength} characters`;
    return minLength === 0
      ? `must have at most ${maxLength} characters`
      : `must have ${minLength} to ${maxLength} characters`;
  }
  if (minimum === undefined) return maximum === undefined ? "is out of range" : `must be at most ${maximum}`;
  if (maximum === undefined) return `must be at least ${minimum}`;
  const steps = multipleOf === undefined ? Infinity : Math.floor((maximum - minimum) / multipleOf) + 1;
  if (multipleOf === undefined || steps > MOST_LISTED) return `must be between ${minimum} and ${maximum}`;
  const first = Math.ceil(minimum / multipleOf) * multipleOf;
  const values = Array.from({ length: steps }, (_, step) => first + step * multipleOf).filter((one) => one <= maximum);
  return `must be ${values.join(" or ")}`;
}

/** Returns the literals of a schema as texts; [] for schemas of other values. */
export function literalsOf(schema: Bounds): readonly string[] {
  const values = schema.enum ?? schema.anyOf?.map((option) => option.const) ?? [];
  return values.filter((value) => value !== undefined).map(String);
}

function allowedTypes({ type, anyOf = [] }: Bounds): string {
  const types = type === undefined ? anyOf.flatMap((option) => option.type ?? []) : [type];
  return types.length === 0 ? "of the documented form" : [...new Set(types)].map(typeInWords).join(" or ");
}

/** Formats a JSON type with its article. */
export function typeInWords(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/** Describes a JSON Schema keyword that bounds a size or a number; null for other keywords. */
export function describeBound(keyword: string, limit: number): string | null {
  return BOUNDS[keyword]?.(limit) ?? null;
}

const BOUNDS: Readonly<Record<string, (limit: number) => string>> = {
  minItems: (limit) => `must have at least ${limit} ${limit === 1 ? "item" : "items"}`,
  maxItems: (limit) => `must have at most ${limit} ${limit === 1 ? "item" : "items"}`,
  maxProperties: (limit) => `must have at most ${limit} ${limit === 1 ? "field" : "fields"}`,
  minLength: (limit) => `must have at least ${limit} characters`,
  maxLength: (limit) => `must have at most ${limit} characters`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be more than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
};
