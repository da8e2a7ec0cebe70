import { SECRET_FIELDS } from "#shared/client/apply/document.ts";
import { VERSION } from "#shared/client/apply/read-document.ts";
import type { Step } from "#shared/client/apply/service.ts";
import { callService, explainNoAnswer, field } from "#shared/client/call.ts";
import type { Connection } from "#shared/client/connection.ts";
import { exitCodeOf, NO_SERVICE } from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/is-record.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The form of a secret that is not in the document. */
const REFERENCE: Schema = {
  anyOf: [
    { required: ["env"], properties: { env: { description: "Variable of the environment with the value" } } },
    {
      required: ["file"],
      properties: { file: { description: "File with the value, from the folder of the document" } },
    },
  ],
  type: "object",
  properties: { env: { type: "string", minLength: 1 }, file: { type: "string", minLength: 1 } },
  additionalProperties: false,
  maxProperties: 1,
};

const OWNER: Schema = {
  type: "string",
  pattern: "^[a-z0-9:_./-]{1,42}$",
  description:
    "Owner of the monitors that an apply creates: they get the tag managed:<owner>, and --prune deletes them",
};

/** Reads the schema of documents from the API document of a service, which needs no key. */
export async function readSchema({ base, own }: Pick<Connection, "base" | "own">): Promise<Step<Schema>> {
  try {
    const { status, body } = await callService(`${base}/openapi.json`, { own });
    const schema = toDocumentSchema(body);
    if (schema !== null) return { ok: true, value: schema };
    const line = `${base} answered ${status} without the schema of an import`;
    return { ok: false, line, exit: exitCodeOf(status, body) || NO_SERVICE };
  } catch (error) {
    return { ok: false, line: explainNoAnswer(base, error), exit: NO_SERVICE };
  }
}

/**
 * Returns the JSON Schema (2020-12) of a document: that of the body of an import in an OpenAPI 3.1 document, with the owner
 * and references in place of secrets, and without fields that an import refuses. null: the document has none.
 */
function toDocumentSchema(openApi: unknown): Schema | null {
  const steps = ["paths", "/api/v4/monitors", "post", "requestBody", "content", "application/json", "schema", "anyOf"];
  const bodies = steps.reduce(field, openApi);
  const found: unknown = Array.isArray(bodies)
    ? bodies.find((one) => field(field(one, "properties"), "monitors") !== undefined)
    : undefined;
  if (!isRecord(found) || !isRecord(found["properties"])) return null;
  const { version, ...lists } = found["properties"];
  const closed = Object.entries(lists).map(([name, list]) => [name, changeItems(name, list)] as const);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Document of vantage apply",
    ...found,
    properties: {
      version: { ...(isRecord(version) ? version : {}), minimum: VERSION },
      owner: OWNER,
      ...Object.fromEntries(closed),
    },
    additionalProperties: false,
  };
}

function changeItems(name: string, list: unknown): unknown {
  const items = field(list, "items");
  if (!isRecord(list) || !isRecord(items)) return list;
  const rows = name === "monitors" ? { ...takeReferences(items), required: ["name"] } : items;
  return { ...list, items: { ...rows, additionalProperties: false } };
}

function takeReferences(row: Schema): Schema {
  return SECRET_FIELDS.reduce((schema, { path, isMap }) => changeAt(schema, path, isMap), row);
}

/** Lets a secret be a reference too: the schema at a path, in each of its alternatives that has the path. */
function changeAt(schema: Schema, [name, ...rest]: readonly string[], isMap: boolean): Schema {
  if (name === undefined) return isMap ? changeValues(schema) : { anyOf: [schema, REFERENCE] };
  const { properties, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return {
      ...schema,
      anyOf: anyOf.map((one: unknown) => (isRecord(one) ? changeAt(one, [name, ...rest], isMap) : one)),
    };
  }
  const inside = field(properties, name);
  if (!isRecord(properties) || !isRecord(inside)) return schema;
  return { ...schema, properties: { ...properties, [name]: changeAt(inside, rest, isMap) } };
}

function changeValues(schema: Schema): Schema {
  const { additionalProperties: values } = schema;
  return { ...schema, additionalProperties: { anyOf: [values, REFERENCE] } };
}
