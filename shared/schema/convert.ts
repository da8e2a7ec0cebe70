import type { TSchema } from "typebox";
import { describeProblem, words, type Bounds, type FieldProblem, type ProblemReason } from "#shared/schema/problem.ts";

/** A converted field, or the problem with it. */
export type Converted =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: FieldProblem };

/** The origin of raw values: query and form (text), a JSON body, or a caller that uses the published types (strict). */
export type Origin = "text" | "json" | "strict";

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
export function convertField(field: string, schema: TSchema, given: unknown, from: Origin): Converted {
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
  const closed = words(kinded);
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
  const refuse = (reason: ProblemReason, message: string): Converted => ({
    ok: false,
    problem: { field, reason, message },
  });
  if (typeof given !== "string") return refuse("type", `must be a comma-separated string of ${allowed}`);
  if (given.length > (schema.maxLength ?? Infinity)) return refuse("range", describeProblem("range", schema));
  const parts = given.split(",", 1_000).map((part) => part.trim());
  const values = new Set<unknown>();
  for (const part of parts) {
    if (items.enum === undefined) {
      if (!DECIMAL_INTEGER.test(part)) return refuse("type", `must be a comma-separated list of ${allowed}`);
      if (!within(Number(part), items)) return refuse("range", `must contain only ${allowed}`);
      values.add(Number(part));
    } else {
      const caseless = part.length <= LONGEST_WORD ? part.toLowerCase() : null;
      const word = items.enum.find((candidate) => String(candidate).toLowerCase() === caseless);
      if (word === undefined) return refuse("enum", `must be a comma-separated list of ${allowed}`);
      values.add(word);
    }
  }
  if (values.size > limit) return refuse("range", `must have at most ${limit} items`);
  return { ok: true, value: [...values] };
}
