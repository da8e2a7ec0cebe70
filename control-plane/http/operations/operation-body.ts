import type { TSchema } from "typebox";

interface Described {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Described>>;
}

/**
 * Returns the schema of a request body for the API document: with an example (built from the examples of the required
 * fields if it has none) and with defaults in the descriptions. With the keyword `default`, generators
 * (openapi-typescript 7) make a field of a body required.
 */
export function documentedBody(body: TSchema): TSchema {
  const described = describeDefaults(body);
  return described.examples === undefined ? { ...described, examples: [sampleOf(described)] } : described;
}

/** Returns a schema with the defaults of all properties, at any depth, moved to their descriptions. */
export function describeDefaults(schema: TSchema): TSchema & Described {
  const { properties, ...rest } = schema as TSchema & Described;
  if (properties === undefined) return schema;
  const described = Object.entries(properties).map(([name, property]) => [name, describeDefault(property)] as const);
  return { ...rest, properties: Object.fromEntries(described) };
}

function describeDefault(property: Described): Described {
  const { default: value, description, ...rest } = describeDefaults(property);
  if (value === undefined) return { ...rest, ...(description === undefined ? {} : { description }) };
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  const text = shown === "{}" ? description : [description, `Default: ${shown}`].filter(Boolean).join(". ");
  return { ...rest, ...(text === undefined ? {} : { description: text }) };
}

function sampleOf({ properties = {}, required = [] }: Described): Readonly<Record<string, unknown>> {
  const fields = required.flatMap((name) => {
    const value = properties[name]?.examples?.[0] ?? properties[name]?.enum?.[0];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}
