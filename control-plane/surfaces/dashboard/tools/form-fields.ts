import { describeProblem, literalsOf, type Bounds } from "#shared/schema/problem.ts";
import type { Contract } from "#shared/tools/define.ts";

/** A parameter of a tool as a field of its form. */
export interface ToolField {
  readonly name: string;
  readonly label: string;
  /** What the parameter means. */
  readonly hint: string;
  readonly input: "text" | "number" | "checkbox" | "select" | "textarea";
  /** Values are separated by commas, spaces or line breaks. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** Values to choose from; empty: the tool's own choice. */
  readonly choices: readonly string[];
  /** What the field has in a new form; a call with it is one without the parameter. */
  readonly initial: string;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** Characters. */
  readonly maxLength: number;
}

/** The parts of a parameter's schema that a field uses. */
interface Shown extends Bounds {
  readonly default?: unknown;
  readonly "x-kind"?: string;
  readonly "x-items"?: Bounds;
}

/** A longer list of steps is a number to type. */
const MOST_STEPS = 10;
const LONGEST = 8_192;

/** Returns the fields of a tool's form in the order of its contract, required ones first. Pure. */
export function fieldsOf({ params }: Contract): readonly ToolField[] {
  const required = new Set((params as { readonly required?: readonly string[] }).required);
  const fields = Object.entries(params.properties).map(([name, schema]) =>
    fieldOf(name, schema as Shown, required.has(name)),
  );
  return [...fields.filter((field) => field.isRequired), ...fields.filter((field) => !field.isRequired)];
}

function fieldOf(name: string, schema: Shown, isRequired: boolean): ToolField {
  const kind = schema["x-kind"];
  const isFlag = kind === "flag" || schema.type === "boolean";
  const isList = kind === "list";
  const closed = isFlag || isList ? [] : choicesOf(schema);
  const isNumber = schema.type === "integer" || schema.type === "number";
  const initial = writeDefault(schema.default);
  const { minimum = null, maximum = null, maxLength = LONGEST } = schema;
  return {
    name,
    label: labelOf(name),
    hint: hintOf(schema, isNumber && closed.length === 0),
    input: isFlag
      ? "checkbox"
      : closed.length > 0
        ? "select"
        : isList || kind === "text"
          ? "textarea"
          : isNumber
            ? "number"
            : "text",
    isList,
    isRequired,
    choices: closed.length > 0 && initial === "" && !isRequired ? ["", ...closed] : closed,
    initial: isFlag && initial === "" ? "0" : initial,
    minimum,
    maximum,
    maxLength,
  };
}

function choicesOf(schema: Shown): readonly string[] {
  const closed = literalsOf(schema);
  const { minimum, maximum, multipleOf } = schema;
  if (closed.length > 0 || minimum === undefined || maximum === undefined || multipleOf === undefined) return closed;
  const steps = Math.floor((maximum - minimum) / multipleOf) + 1;
  return steps > MOST_STEPS ? [] : Array.from({ length: steps }, (_, step) => String(minimum + step * multipleOf));
}

/** Adds the range of a number that is typed to its description. */
function hintOf(schema: Shown, isTyped: boolean): string {
  const { description = "", minimum, maximum } = schema;
  const isRange = isTyped && minimum !== undefined && maximum !== undefined;
  return isRange ? `${description} (${describeProblem("range", schema).replace("must be ", "")})` : description;
}

function writeDefault(value: unknown): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Labels of parameters whose names are not literalsOf. */
const LABELS: Readonly<Record<string, string>> = {
  url: "URL",
  test_url: "URL to test",
  ip: "IP address",
  ip_version: "IP version",
  ua: "User-Agent",
  dnssec: "DNSSEC",
  ttl: "TTL",
  interval_ms: "Interval, milliseconds",
  timeout: "Time limit, seconds",
  max: "Most redirects",
  max_hops: "Most hops",
  query: "What to look up",
};

/** Writes the name of a parameter as a label: "Max hops". */
function labelOf(name: string): string {
  const known = LABELS[name];
  if (known !== undefined) return known;
  const spaced = name.replaceAll("_", " ");
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`;
}
