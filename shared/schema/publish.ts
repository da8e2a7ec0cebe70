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
  if (kind === "flag" && switches === "boolean") {
    const { enum: _words, ...flag } = rest;
    return { ...flag, type: "boolean" };
  }
  if (kind === "flag" && typeof value === "boolean") return { ...rest, default: value ? "1" : "0" };
  return Array.isArray(value) ? { ...rest, default: value.join(",") } : rest;
}

/** The parameters of a tool as they are published. */
export function publishParams(params: TObject): TObject {
  const { properties, ...rest } = params;
  const published = Object.entries<TSchema>(properties).map(([name, schema]) => [name, publishField(schema)] as const);
  return { ...rest, properties: Object.fromEntries(published) } as unknown as TObject;
}
