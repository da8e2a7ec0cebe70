import type { TObject, TSchema } from "typebox";

/**
 * A parameter as it is published: defaults in the form they are sent in. Where the type on the wire is text, a switch is
 * "0" or "1" and a list is joined by commas; `switches` boolean: a caller bound to JSON's own types.
 */
export function publishField(schema: TSchema, switches: "text" | "boolean" = "text"): Record<string, unknown> {
  const {
    "x-kind": kind,
    "x-items": _items,
    "x-max-items": _most,
    ...rest
  } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  const { default: value } = rest;
  // Hosts of agents hand every byte of a schema on to a model; documents show the examples.
  const { examples: _examples, ...lean } = rest;
  if (kind === "flag" && switches === "boolean") {
    const { enum: _words, ...flag } = lean;
    return { ...flag, type: "boolean" };
  }
  const shown = switches === "boolean" ? lean : rest;
  return value === undefined ? shown : { ...shown, default: asSent(value) };
}

/** A value as it is sent where the type on the wire is text. */
function asSent(value: unknown): unknown {
  if (typeof value === "boolean") return value ? "1" : "0";
  return Array.isArray(value) ? value.join(",") : value;
}

/** The parameters of a tool as they are published, with the values of an example where there are any. */
export function publishParams(params: TObject, example: Readonly<Record<string, unknown>> = {}): TObject {
  const { properties, ...rest } = params;
  const published = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const value = example[name];
    return [name, { ...publishField(schema), ...(value === undefined ? {} : { examples: [asSent(value)] }) }] as const;
  });
  return { ...rest, properties: Object.fromEntries(published) };
}
