/** One operation of an OpenAPI document with its samples, which readers try and generators send. */
export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Required query parameters. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly pathParameters: Readonly<Record<string, string>>;
  /** Sample of the JSON body; undefined if there is no body. */
  readonly body: unknown;
  /** Every sample and default of the query's optional parameters. */
  readonly optional: readonly (readonly [name: string, value: unknown])[];
  /** Every sample and default of the body's fields, including required ones. */
  readonly fields: readonly (readonly [name: string, value: unknown])[];
  /** Required parameters and fields without a sample, a default or a closed set of values. */
  readonly unsampled: readonly string[];
}

interface Schema {
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly schema: Schema;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
}

/** Parameters that the sample of an operation needs, though another of its actions has none. */
const NEEDED: ReadonlyMap<string, string> = new Map([["update_monitor", "id"]]);

/** Every operation of a document, in its order. */
export function operationsOf(document: unknown): readonly ApiOperation[] {
  const { paths } = document as { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => readOperation(path, method, described)),
  );
}

function readOperation(path: string, method: string, described: Described): ApiOperation {
  const { operationId: id, parameters = [], requestBody } = described;
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const isRequired = ({ name, required = false }: Parameter) => required || NEEDED.get(id) === name;
  const required = inQuery.filter(isRequired);
  const json = requestBody?.content["application/json"];
  const properties = Object.entries(json?.schema.properties ?? {});
  const mandatory = new Set(json?.schema.required);
  return {
    id,
    method,
    path,
    query: Object.fromEntries(required.flatMap((parameter) => firstOf(parameter.name, samplesOf(parameter)))),
    pathParameters: Object.fromEntries(
      parameters.filter((parameter) => parameter.in === "path").map(({ name }) => [name, "sample"] as const),
    ),
    body: json?.example,
    optional: inQuery
      .filter((parameter) => !isRequired(parameter))
      .flatMap((parameter) => samplesOf(parameter).map((value) => [parameter.name, value] as const)),
    fields: properties.flatMap(([name, schema]) => valuesOf(schema).map((value) => [name, value] as const)),
    unsampled: [
      ...required.filter((parameter) => isUnsampled(samplesOf(parameter), parameter.schema)).map(({ name }) => name),
      ...properties
        .filter(([name, schema]) => mandatory.has(name) && isUnsampled(valuesOf(schema), schema))
        .map(([name]) => name),
      ...(json !== undefined && json.example === undefined ? ["the body"] : []),
    ],
  };
}

function firstOf(name: string, values: readonly unknown[]): readonly (readonly [string, unknown])[] {
  return values.slice(0, 1).map((value) => [name, value] as const);
}

function samplesOf({ example, examples = {}, schema }: Parameter): readonly unknown[] {
  return [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples).map(({ value }) => value),
    ...valuesOf(schema),
  ];
}

function valuesOf({ examples = [], ...schema }: Schema): readonly unknown[] {
  return [...examples, ...("default" in schema ? [schema.default] : [])];
}

function isUnsampled(values: readonly unknown[], { enum: closed }: Schema): boolean {
  return values.length === 0 && closed === undefined;
}
