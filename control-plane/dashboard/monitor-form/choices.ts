import { isRecord } from "#shared/is-record.ts";
import { RECORD } from "#control-plane/monitors/settings/fields.ts";

/** Returns the values of a field of the API that has few, by its schema; "" first if it can be null. */
export function valueSchemaOf(path: string): readonly string[] {
  let schema: unknown = RECORD;
  let isNullable = false;
  for (const name of path.split(".")) {
    schema = alternativesOf(schema).find((one) => isRecord(one["properties"]) && one["properties"][name] !== undefined);
    schema = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"][name] : null;
  }
  for (const one of alternativesOf(schema)) if (one["type"] === "null") isNullable = true;
  const values = alternativesOf(schema).flatMap((one) => (Array.isArray(one["enum"]) ? one["enum"] : []));
  const texts = values.filter((value): value is string => typeof value === "string");
  return isNullable ? ["", ...texts] : texts;
}

/** Returns a schema, or the schemas that it allows one of. */
function alternativesOf(schema: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf) : [schema];
}
