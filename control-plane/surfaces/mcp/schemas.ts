import type { TObject, TSchema } from "typebox";
import { publishField } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";
import { CALL_PARAMS } from "#control-plane/tool-requests/call-params.ts";

/** A JSON Schema (2020-12) as it is published. */
export type JsonSchema = Readonly<Record<string, unknown>> & { readonly type: "object" };

/** The arguments of a tool: the contract's parameters and `locations`, in JSON's own types. */
export function argumentsSchema({ params }: Contract): JsonSchema {
  const { locations } = CALL_PARAMS.properties;
  const properties: Readonly<Record<string, TSchema>> = { ...params.properties, locations };
  const { required = [] } = params as { readonly required?: readonly string[] };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, publishField(schema, "boolean")]),
    ),
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
}

/** The result of a tool: the contract's own shape, or one row a place where `locations` was given (decisions 6). */
export function resultSchema({ result }: Contract): JsonSchema {
  return {
    type: "object",
    anyOf: [{ $ref: "#/$defs/result" }, { $ref: "#/$defs/locations" }],
    $defs: { result: lean(plain(result)), locations: MULTI },
  };
}

/** An object's schema as it is published. */
export function plainSchema(schema: TObject): JsonSchema {
  return { ...plain(schema), type: "object" };
}

/**
 * A result's schema without its words, which make three quarters of it: hosts validate by it and hand every byte of the
 * list on. What each field means stands in the catalogue and in the API's own document.
 */
function lean(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lean);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).filter(([name, value]) => name !== "description" || typeof value !== "string");
  const { anyOf, ...rest } = Object.fromEntries(entries.map(([name, value]) => [name, lean(value)]));
  if (!Array.isArray(anyOf)) return anyOf === undefined ? rest : { ...rest, anyOf };
  const [first, second] = anyOf as readonly Record<string, unknown>[];
  const isNullable = anyOf.length === 2 && second?.["type"] === "null" && typeof first?.["type"] === "string";
  // An enum would have to name null as well.
  return isNullable && !("enum" in first) ? { ...rest, ...first, type: [first["type"], "null"] } : { ...rest, anyOf };
}

function plain(schema: TSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
}

const MULTI = {
  type: "object",
  required: ["locations", "summary"],
  properties: {
    locations: {
      type: "array",
      items: {
        type: "object",
        required: ["location", "status", "duration_ms"],
        properties: {
          location: { type: "object", description: "Where the probe stands" },
          status: { type: "string", enum: ["ok", "failed"] },
          data: { $ref: "#/$defs/result" },
          error: { type: "object", description: "Why it failed there: code, message, stage, source, reason" },
          duration_ms: { type: "integer", description: "Milliseconds" },
        },
      },
    },
    summary: { type: "object", description: "total, ok, failed, consistent, and spreads of the tool's own figures" },
  },
};
