/** The keywords of a JSON Schema that the outline knows; it writes any other with its value. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: Contents;
  readonly responses: Readonly<Record<string, Contents>>;
}

interface Contents {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

/** The parts of an OpenAPI document that the outline reads. */
export interface Outlined {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const WORDING = ["description", "title", "example", "examples", "$schema", "$id"];
const SHAPE = ["$ref", "type", "properties", "required", "items", "anyOf", "oneOf", "patternProperties"];
const KNOWN = new Set([...WORDING, ...SHAPE, "additionalProperties"]);

/**
 * Writes an OpenAPI document as an outline whose difference can be read: one line for each operation, parameter and field,
 * with everything that a client can rely on, and without wording. A required field has a star.
 */
export function outlineOf({ paths, components }: Outlined): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      outlineOperation(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  const shapes = Object.entries(components.schemas).flatMap(([name, schema]) => outlineField(name, schema));
  return [...operations, ...shapes, ""].join("\n");
}

function outlineOperation(route: string, { operationId, security = [], ...operation }: Operation): readonly string[] {
  const keys = security.flatMap((one) => Object.keys(one));
  const statuses = Object.keys(operation.responses);
  const good = Object.entries(operation.responses).filter(([status]) => /^[123]/.test(status));
  return [
    `${route} (${[operationId, ...keys].join(", ")}): ${statuses.join(" ")}`,
    ...[
      ...(operation.parameters ?? []).flatMap((one) =>
        outlineField(`${one.in} ${one.name}${one.required === true ? "*" : ""}`, one.schema),
      ),
      ...outlineContents("body", operation.requestBody),
      ...good.flatMap(([status, contents]) => outlineContents(status, contents)),
    ].map(indent),
  ];
}

function outlineContents(name: string, { content = {} }: Contents = {}): readonly string[] {
  return Object.entries(content).flatMap(([type, { schema = {} }]) =>
    outlineField(type === "application/json" ? name : `${name} ${type}`, schema),
  );
}

/** Returns the line of a field, and the lines of what is in it. */
function outlineField(name: string, schema: Schema): readonly string[] {
  return [`${name}: ${headOf(schema)}`, ...linesWithin(schema).map(indent)];
}

function headOf(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf, additionalProperties } = schema;
  const options = anyOf ?? oneOf;
  const rules = Object.entries(schema).flatMap(([name, value]) =>
    KNOWN.has(name) ? [] : [`${name}=${JSON.stringify(value)}`],
  );
  const shape =
    $ref?.split("/").at(-1) ?? (items === undefined ? type : `[${headOf(items)}]`) ?? options?.map(headOf).join(" | ");
  return [
    ...(shape === undefined ? [] : [shape]),
    ...rules,
    ...(additionalProperties === false ? ["closed"] : []),
  ].join(" ");
}

function linesWithin(schema: Schema): readonly string[] {
  const { properties = {}, required = [], items, anyOf, oneOf, patternProperties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? [["*", additionalProperties] as const] : [];
  return [
    ...Object.entries(properties).flatMap(([name, field]) =>
      outlineField(`${name}${required.includes(name) ? "*" : ""}`, field),
    ),
    ...[...Object.entries(patternProperties), ...others].flatMap(([name, field]) => outlineField(name, field)),
    ...(items === undefined ? [] : linesWithin(items)),
    ...(anyOf ?? oneOf ?? []).map(linesWithin).flatMap((lines) => (lines.length === 0 ? [] : ["either", ...lines])),
  ];
}

const indent = (line: string): string => ` ${line}`;
