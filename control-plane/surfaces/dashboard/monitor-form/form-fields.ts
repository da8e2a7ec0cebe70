import { isRecord } from "#shared/text/is-record.ts";
import { checkTypesOf } from "#control-plane/outages/kinds/defaults.ts";
import { formOf, GROUPS, type Group, type Input } from "#control-plane/outages/kinds/form-field.ts";
import { kindOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { RECORD } from "#control-plane/monitors/settings/fields.ts";

/** A field of the form of a monitor. */
export interface FormField {
  /** Its path in the API, such as `tcp.send`. */
  readonly name: string;
  readonly label: string;
  /** Empty: none. */
  readonly hint: string;
  readonly input: Input;
  readonly group: Group;
  /** What an empty field means for a monitor that exists; absent: nothing of it is sent. */
  readonly empty?: string | number | null | undefined;
  /** What it can be, of an input that is a select; "" first if it can be null. */
  readonly choices: readonly string[];
}

/** The input for values of a type, of a field that says nothing else. */
const INPUTS: Readonly<Record<string, Input>> = {
  boolean: "checkbox",
  integer: "number",
  number: "number",
  array: "lines",
  object: "pairs",
};

/** Every field for which a form asks, by its path, in the order of the API. */
const ALL: ReadonlyMap<string, FormField> = new Map(listFields("", RECORD).map((field) => [field.name, field]));

function listFields(path: string, schema: unknown): readonly FormField[] {
  const alternatives = alternativesOf(schema);
  const properties = alternatives.map((one) => one["properties"]).find(isRecord);
  const form = alternatives.map(formOf).find((one) => one !== null);
  if (form !== undefined && form !== null) return [toField(path, alternatives, form)];
  return Object.entries(properties ?? {}).flatMap(([name, inside]) =>
    listFields(path === "" ? name : `${path}.${name}`, inside),
  );
}

function toField(
  name: string,
  alternatives: readonly Readonly<Record<string, unknown>>[],
  form: NonNullable<ReturnType<typeof formOf>>,
): FormField {
  const isNullable = alternatives.some((one) => one["type"] === "null");
  const values = alternatives.flatMap((one) => (Array.isArray(one["enum"]) ? (one["enum"] as unknown[]) : []));
  const texts = values.filter((value): value is string => typeof value === "string");
  const field = { hint: "", input: inputOf(alternatives[0] ?? {}), ...(isNullable ? { empty: null } : {}), ...form };
  return { ...field, name, choices: field.input !== "select" ? [] : isNullable ? ["", ...texts] : texts };
}

/** Returns the input for values of a schema. */
function inputOf(schema: Readonly<Record<string, unknown>>): Input {
  if (Array.isArray(schema["enum"])) return "select";
  if (schema["x-kind"] === "text") return "textarea";
  return INPUTS[String(schema["type"])] ?? "text";
}

/** Returns a schema, or the schemas that it allows one of. */
function alternativesOf(schema: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(schema)) return [];
  const { anyOf, ...rest } = schema;
  // What a union says of itself is said of each alternative.
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf).map((one) => ({ ...rest, ...one })) : [schema];
}

/** Returns the fields of the form of a kind, in their order, by what the kind has. */
export function fieldsOf(checkType: CheckType): readonly FormField[] {
  const { target, probe } = kindOf(checkType);
  const left = new Set([...(target === null ? ["url"] : []), ...(probe === null ? ["interval_minutes"] : [])]);
  const isOwn = (top: string) => checkTypesOf(top as keyof MonitorDraft)?.includes(checkType) ?? true;
  const own = Array.from(ALL.values()).filter(({ name }) => !left.has(name) && isOwn(topOf(name)));
  // In each part the address is first. Before the name comes what the kind alone has.
  const placeOf = ({ name, group }: FormField): number => {
    const isOfAll = group === "what" && checkTypesOf(topOf(name) as keyof MonitorDraft) === null;
    return 3 * GROUPS.indexOf(group) + (name === "url" ? 0 : isOfAll ? 2 : 1);
  };
  return own.toSorted((one, other) => placeOf(one) - placeOf(other)).map((field) => labelled(field, checkType));
}

/** Returns the label of a field of a monitor, by its path in the API; a field for which no form asks is its own label. */
export function labelOf(path: string): string {
  return ALL.get(path)?.label ?? path;
}

function labelled(field: FormField, checkType: CheckType): FormField {
  const { target } = kindOf(checkType);
  return field.name === "url" && target !== null ? { ...field, label: target.label, hint: target.hint } : field;
}

/** Returns the first part of the path of a field: "json" of "json.path". */
export function topOf(path: string): string {
  return path.split(".", 1)[0] ?? "";
}

/** Returns the word of a value of a select. A value that has none, such as one that no form of ours has sent, is its own word. */
export function choiceOf(value: string): string {
  return Object.hasOwn(CHOICE_WORDS, value) ? (CHOICE_WORDS[value] ?? value) : value;
}

const CHOICE_WORDS: Readonly<Record<string, string>> = {
  "": "None",
  present: "must be there",
  absent: "must not be there",
  any: "any",
  all: "all",
  percent: "a share",
  none: "none",
  starttls: "STARTTLS",
  implicit: "from the first byte",
  not_bogus: "must not be broken",
  secure: "must be signed and valid",
  ignore: "does not matter",
  equals: "equals",
  not_equals: "does not equal",
  contains: "contains",
  not_contains: "does not contain",
  exists: "exists",
  less: "is less than",
  greater: "is greater than",
  post: "POST only",
};
