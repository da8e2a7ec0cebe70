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
 * A request body as documents show it: with a sample, made of its required fields' samples where it has none of its
 * own, and with defaults told in the descriptions. As a keyword a default makes generators (openapi-typescript 7) take
 * a field of a body for one that every caller must send.
 */
export function documentedBody(body: TSchema): TSchema {
  const told = tellDefaults(body);
  return told.examples === undefined ? { ...told, examples: [sampleOf(told)] } : told;
}

/** A schema whose properties, at any depth, have their defaults in their descriptions. */
export function tellDefaults(schema: TSchema): TSchema & Described {
  const { properties, ...rest } = schema as TSchema & Described;
  if (properties === undefined) return schema;
  const told = Object.entries(properties).map(([name, property]) => [name, tellDefault(property)] as const);
  return { ...rest, properties: Object.fromEntries(told) };
}

function tellDefault(property: Described): Described {
  const { default: value, description, ...rest } = tellDefaults(property);
  if (value === undefined) return { ...rest, ...(description === undefined ? {} : { description }) };
  const said = typeof value === "string" ? value : JSON.stringify(value);
  const text = said === "{}" ? description : [description, `Default: ${said}`].filter(Boolean).join(". ");
  return { ...rest, ...(text === undefined ? {} : { description: text }) };
}

function sampleOf({ properties = {}, required = [] }: Described): Readonly<Record<string, unknown>> {
  const fields = required.flatMap((name) => {
    const value = properties[name]?.examples?.[0] ?? properties[name]?.enum?.[0];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}
