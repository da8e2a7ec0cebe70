import type { TSchema } from "typebox";

/** Why a parameter is refused: `error.reason` of a 400 (decisions 3). */
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

/** The JSON Schema keywords a field of ours uses to bound its value. */
export interface Bounds {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
  readonly minimum?: number;
  readonly maximum?: number;
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
      return bounds.type === "string"
        ? `must have ${bounds.minLength ?? 0} to ${bounds.maxLength ?? "any number of"} characters`
        : `must be between ${bounds.minimum ?? "any"} and ${bounds.maximum ?? "any"}`;
    default:
      return `must be ${allowedTypes(bounds)}`;
  }
}

/** The closed set of a schema made of literals, [] where it is no such schema. */
export function words(schema: Bounds): readonly string[] {
  const values = schema.enum ?? schema.anyOf?.map((option) => option.const) ?? [];
  return values.filter((value) => value !== undefined).map(String);
}

function allowedTypes({ type, anyOf = [] }: Bounds): string {
  const types = type === undefined ? anyOf.flatMap((option) => option.type ?? []) : [type];
  return types.length === 0 ? "of the documented form" : types.map(article).join(" or ");
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
