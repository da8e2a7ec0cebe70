import type { TSchema } from "typebox";

/** Why a parameter is refused: `error.reason` of a 400. */
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

/** One refused field: its name (dotted inside objects), the reason word, and what would be allowed. */
export interface FieldProblem {
  readonly field: string;
  readonly reason: ProblemReason;
  readonly message: string;
}

/** A problem as an error answer says it: the field's name once, then what is wrong with it. */
export function fieldMessage({ field, message }: Pick<FieldProblem, "field" | "message">): string {
  return `${field}: ${message}.`;
}

/** The JSON Schema keywords a field of ours uses to bound its value. */
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

/** What a field allows, in words, from its own schema. */
export function describeProblem(reason: ProblemReason, schema: TSchema): string {
  const bounds = schema as Bounds;
  switch (reason) {
    case "required":
      return `is required${bounds.description === undefined ? "" : `: ${bounds.description}`}`;
    case "enum":
      return `must be one of ${words(bounds).join(", ")}`;
    case "range":
      return describeRange(bounds);
    default:
      return `must be ${allowedTypes(bounds)}`;
  }
}

/** Values of a number with steps that are listed one by one. */
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

/** The closed set of a schema made of literals, [] where it is no such schema. */
export function words(schema: Bounds): readonly string[] {
  const values = schema.enum ?? schema.anyOf?.map((option) => option.const) ?? [];
  return values.filter((value) => value !== undefined).map(String);
}

function allowedTypes({ type, anyOf = [] }: Bounds): string {
  const types = type === undefined ? anyOf.flatMap((option) => option.type ?? []) : [type];
  return types.length === 0 ? "of the documented form" : [...new Set(types)].map(typeInWords).join(" or ");
}

/** A JSON type with its article. */
export function typeInWords(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
