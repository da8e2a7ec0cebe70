/** The keywords of a JSON Schema that bound a value and lead to its parts. */
export interface Bounded {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Bounded;
  readonly properties?: Readonly<Record<string, Bounded>>;
  readonly patternProperties?: Readonly<Record<string, Bounded>>;
  readonly additionalProperties?: boolean | Bounded;
  readonly anyOf?: readonly Bounded[];
  readonly oneOf?: readonly Bounded[];
}

/**
 * Returns the paths of the lists, texts and records in a schema that have no greatest size. An object with named members
 * is bounded: only these are read. `schemaOf` resolves references.
 */
export function unboundedIn(path: string, schema: Bounded, schemaOf = (_reference: string): Bounded => ({})): string[] {
  const inside = (name: string, part: Bounded): string[] => unboundedIn(`${path}.${name}`, part, schemaOf);
  if (schema.$ref !== undefined) return unboundedIn(path, schemaOf(schema.$ref), schemaOf);
  const { type, items, properties = {}, patternProperties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? [additionalProperties] : [];
  const values = [...Object.values(patternProperties), ...others];
  const isClosed = schema.enum !== undefined || schema.const !== undefined;
  const isUnbounded =
    (type === "array" && schema.maxItems === undefined) ||
    (type === "string" && schema.maxLength === undefined && !isClosed) ||
    (type === "object" && values.length > 0 && schema.maxProperties === undefined);
  return [
    ...(isUnbounded ? [path] : []),
    ...(items === undefined ? [] : inside("[]", items)),
    ...values.flatMap((part) => inside("*", part)),
    ...Object.entries(properties).flatMap(([name, part]) => inside(name, part)),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((part) => unboundedIn(path, part, schemaOf)),
  ];
}
