import type { TObject, TSchema } from "typebox";
import { publishField } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";

/** A published JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: "object" };

/** The parts of a schema that this file reads. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The argument that all checks have in common. The server's instructions explain it once for all tools. */
const LOCATIONS = {
  type: "array",
  items: { type: "string" },
  description: "Locations to run from, e.g. europe, DE, all",
} as const;

/** Fields of most results. The server's instructions explain them once; they are not repeated in each schema. */
export const COMMON_FIELDS: readonly string[] = ["observed_at", "elapsed_ms", "source", "limitations"];

/** A closed set of values is published if its JSON has at most this many characters. */
const LONGEST_ENUM = 100;
/** Names of inner fields are listed up to this many characters. */
const LONGEST_NAMES = 30;

/** Returns the arguments of a check: the parameters of the contract and `locations`, with JSON types. */
export function argumentsSchema({ params }: Contract): JsonSchema {
  const schema = publishArguments(params);
  return { ...schema, properties: { ...(schema["properties"] as object), locations: LOCATIONS } };
}

/** Returns parameters as arguments of a tool. Length limits of texts are left out: the server checks them. */
export function publishArguments(params: TObject): JsonSchema {
  const { required = [] } = params as { readonly required?: readonly string[] };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries<TSchema>(params.properties).map(([name, schema]) => [name, publishArgument(schema)]),
    ),
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
}

function publishArgument(schema: TSchema): Record<string, unknown> {
  const { minLength: _least, maxLength: _most, anyOf, ...rest } = publishField(schema, "boolean");
  const words = closedSet({ ...rest, anyOf } as Schema);
  if (words === null) return anyOf === undefined ? rest : { ...rest, anyOf };
  return { type: typeof words[0], ...rest, enum: words };
}

/**
 * Returns the top-level fields of a result with their types; for objects and lists of objects also the names of the
 * fields inside. The schema also fits calls with `locations`: their result has the fields `locations` and `summary`,
 * and a schema without required fields allows both.
 *
 * Hosts give the whole list to a model. The full schemas of all tools take 175 KB; the types alone 25 KB; the
 * descriptions of the top-level fields would take another 53 KB.
 */
export function publishResult(result: TObject): JsonSchema {
  const { properties } = JSON.parse(JSON.stringify(result)) as { readonly properties: Record<string, Schema> };
  const fields = Object.entries(properties).filter(([name]) => !COMMON_FIELDS.includes(name));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, publishResultField(schema)])),
  };
}

function publishResultField(schema: Schema): Record<string, unknown> {
  const types = [...new Set(alternativesOf(schema).flatMap((one) => one.type ?? []))];
  const words = closedSet(schema);
  const names = joinNames(innerNames(schema));
  return {
    ...(types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }),
    ...(words !== null && JSON.stringify(words).length <= LONGEST_ENUM ? { enum: words } : {}),
    ...(names === "" ? {} : { description: names }),
  };
}

function alternativesOf(schema: Schema): readonly Schema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternativesOf);
}

/** Returns the values a field can have; null if they are not a closed set. */
function closedSet(schema: Schema): readonly unknown[] | null {
  if (schema.enum !== undefined) return schema.enum;
  const values = (schema.anyOf ?? []).map((one) => one.const);
  return values.length === 0 || values.includes(undefined) ? null : values;
}

/** Returns the names of the fields of an object, or of the objects of a list. */
function innerNames(schema: Schema): readonly string[] {
  const objects = alternativesOf(schema).flatMap((one) => (one.items === undefined ? one : alternativesOf(one.items)));
  return Object.keys(objects.find((one) => one.properties !== undefined)?.properties ?? {});
}

function joinNames(names: readonly string[]): string {
  let joined = "";
  for (const name of names) {
    const next = joined === "" ? name : `${joined}, ${name}`;
    if (next.length > LONGEST_NAMES) return `${joined}, ...`;
    joined = next;
  }
  return joined;
}
