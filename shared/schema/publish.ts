import type { TObject, TSchema } from "typebox";

/**
 * Converts a parameter's schema to its published form, with defaults as they are sent. As text, a flag is "0" or "1" and a
 * list is joined by commas. `switches` "boolean": for callers that use JSON types.
 */
export function publishField(schema: TSchema, switches: "text" | "boolean" = "text"): Record<string, unknown> {
  const {
    "x-kind": kind,
    "x-items": _items,
    "x-max-items": _most,
    ...rest
  } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  const { default: value } = rest;
  // MCP clients pass every byte of a schema to a model, so examples are only in documents.
  const { examples: _examples, ...lean } = rest;
  if (kind === "flag" && switches === "boolean") {
    const { enum: _words, ...flag } = lean;
    return { ...flag, type: "boolean" };
  }
  const shown = switches === "boolean" ? lean : rest;
  return value === undefined ? shown : { ...shown, default: asSent(value) };
}

/** Converts a value to its text form. */
function asSent(value: unknown): unknown {
  if (typeof value === "boolean") return value ? "1" : "0";
  return Array.isArray(value) ? value.join(",") : value;
}

/** Converts a tool's parameters to their published form, with the values of an example if given. */
export function publishParams(params: TObject, example: Readonly<Record<string, unknown>> = {}): TObject {
  const { properties, ...rest } = params;
  const published = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const value = example[name];
    return [name, { ...publishField(schema), ...(value === undefined ? {} : { examples: [asSent(value)] }) }] as const;
  });
  return { ...rest, properties: Object.fromEntries(published) };
}
