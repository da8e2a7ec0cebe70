/** The keywords of a JSON Schema that lead to its fields. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** A field of a schema. */
export interface Field {
  /** From the schema's top, e.g. hops[].code. */
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
}

/** Returns every field of a schema, at any depth. */
export function fieldsOf(schema: Schema, path = ""): readonly Field[] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const own = path === "" ? name : `${path}.${name}`;
      return [{ path: own, name, schema: field }, ...fieldsOf(field, own)];
    }),
    ...(schema.items === undefined ? [] : fieldsOf(schema.items, `${path}[]`)),
    ...(schema.anyOf ?? []).flatMap((option) => fieldsOf(option, path)),
  ];
}
