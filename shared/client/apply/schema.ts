import { SECRET_FIELDS } from "#shared/client/apply/document.ts";
import { VERSION } from "#shared/client/apply/read-document.ts";
import { WEBHOOK_FIELDS, WEBHOOK_SECRETS } from "#shared/client/apply/webhooks/rows.ts";
import type { Step } from "#shared/client/apply/service.ts";
import { callService, explainNoAnswer, field } from "#shared/client/call.ts";
import type { Connection } from "#shared/client/connection.ts";
import { exitCodeOf, NO_SERVICE } from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/text/is-record.ts";

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
    "Owner of what an apply creates: monitors get the tag managed:<owner>, webhooks have it as managed_by, and --prune " +
    "deletes them",
};

const MONITOR_NAMES: Schema = {
  type: "array",
  maxItems: 1_000,
  items: { type: "string" },
  description: "Names of monitors: rows of the document, or monitors of the account",
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
  const bodies = field(bodyOf(openApi, "/api/v4/monitors"), "anyOf");
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
      webhooks: toWebhooks(bodyOf(openApi, "/api/v4/webhooks")),
    },
    patternProperties: { "^x-": { description: "The user's own, such as anchors. An apply leaves it out" } },
    additionalProperties: false,
  };
}

/** Returns the schema of the body of the POST of a path; undefined: there is none. */
function bodyOf(openApi: unknown, path: string): unknown {
  return ["paths", path, "post", "requestBody", "content", "application/json", "schema"].reduce(field, openApi);
}

/** Returns the schema of the list of webhooks by that of a creation. */
function toWebhooks(creation: unknown): Schema {
  const row = isRecord(creation) ? creation : {};
  const { examples: _examples, required: _required, ...rest } = row;
  const fields = isRecord(row["properties"]) ? row["properties"] : {};
  const known = WEBHOOK_FIELDS.filter((name) => Object.hasOwn(fields, name)).map(
    (name) => [name, fields[name]] as const,
  );
  const properties = Object.fromEntries(known.map(([name, one]) => [name, name === "filter" ? toNames(one) : one]));
  const items = takeReferences({ ...rest, properties }, WEBHOOK_SECRETS);
  return {
    type: "array",
    items: { ...items, required: ["name"], additionalProperties: false },
    description: "Webhooks; the name says which webhook a row is. Values of **** keep what the account has",
  };
}

/** Lets the filter of a webhook name monitors by their names, in each of its alternatives. */
function toNames(filter: unknown): unknown {
  if (!isRecord(filter)) return filter;
  const { anyOf, properties } = filter;
  if (Array.isArray(anyOf)) return { ...filter, anyOf: anyOf.map(toNames) };
  if (!isRecord(properties)) return filter;
  const { monitor_ids: _ids, ...rest } = properties;
  return { ...filter, properties: { monitors: MONITOR_NAMES, ...rest }, additionalProperties: false };
}

function changeItems(name: string, list: unknown): unknown {
  const items = field(list, "items");
  if (!isRecord(list) || !isRecord(items)) return list;
  const rows = name === "monitors" ? { ...takeReferences(items), required: ["name"] } : items;
  return { ...list, items: { ...rows, additionalProperties: false } };
}

function takeReferences(row: Schema, fields = SECRET_FIELDS): Schema {
  return fields.reduce((schema, { path, isMap }) => changeAt(schema, path, isMap), row);
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
