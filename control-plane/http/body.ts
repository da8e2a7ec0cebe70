import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasMoreKeys } from "#shared/schema/oversize.ts";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { MOST_CONTAINERS, parseJsonObject, type JsonObject } from "#control-plane/http/json.ts";

/** Maximum size of a body, bytes (1 MiB); a larger one is 413. */
export const BODY_LIMIT = 1_048_576;

/** The largest body that any path takes, bytes: a form with a file. A proxy in front must let it pass. */
export const LARGEST_BODY = 8_388_608;

/** Maximum number of fields of a body whose unknown fields are ignored, or that is a form. */
const MOST_FIELDS = 1_000;
const AMPERSAND = 38;

/** A body as received. The bytes are kept for fingerprints and signatures; JSON is parsed once, on first use. */
export class RawBody {
  readonly kind: "json" | "form";
  readonly bytes: Buffer;
  #json: JsonObject | null = null;
  #form: Record<string, unknown> | null = null;

  constructor(kind: "json" | "form", bytes: Buffer) {
    this.kind = kind;
    this.bytes = bytes;
  }

  /** Parses the body as a JSON object. */
  json(): JsonObject {
    this.#json ??= parseJsonObject(this.bytes, MOST_CONTAINERS);
    return this.#json;
  }

  /** Parses the body as form fields; the value of a repeated name is an array. null if there are too many. */
  form(): Record<string, unknown> | null {
    this.#form ??= hasMoreFields(this.bytes) ? null : parseForm(this.bytes);
    return this.#form;
  }
}

/** Reports whether a form has too many fields. They are counted first: URLSearchParams needs seconds for 1 MB of them. */
function hasMoreFields(bytes: Buffer): boolean {
  let at = -1;
  for (let count = 0; count < MOST_FIELDS; count += 1) {
    at = bytes.indexOf(AMPERSAND, at + 1);
    if (at === -1) return false;
  }
  return true;
}

function parseForm(bytes: Buffer): Record<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(bytes.toString("utf8"))) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(Array.from(fields, ([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/** Parameters as received, and the form in which parseParams reads them. */
interface RawParams {
  readonly values: Readonly<Record<string, unknown>>;
  readonly from: "text" | "json";
}

/** Makes the server accept JSON and form bodies as RawBody; every other type is 415. */
export function acceptBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const types = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;
  for (const kind of ["json", "form"] as const) {
    server.addContentTypeParser<Buffer>(types[kind], { parseAs: "buffer" }, (request, bytes, done) => {
      const refusal = refuseEncoded(request);
      if (refusal === null) done(null, new RawBody(kind, bytes));
      else done(refusal);
    });
  }
}

/** Returns why a body is refused that is compressed; null if it is not. */
export function refuseEncoded({ headers }: FastifyRequest): Refusal | null {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return null;
  return new Refusal("unsupported_media_type", `Send the body uncompressed, without Content-Encoding: ${encoding}.`);
}

/** Returns the fields of a JSON body; an empty body is {}. Throws Refusal for forms, invalid JSON and non-objects. */
export function readBody(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const body = bodyOf(request);
  if (body === null) return {};
  if (body.kind === "form") throw new Refusal("unsupported_media_type", "Send the body as application/json.");
  return withoutKey(request, jsonFields(body));
}

/** Returns query and body as one set of parameters. Throws Refusal if both have the same name. */
export function rawParams(request: FastifyRequest): RawParams {
  const query = withoutKey(request, request.query as Record<string, unknown>);
  const body = bodyOf(request);
  if (body === null) return { values: query, from: "text" };
  const given = body.kind === "form" ? body.form() : jsonFields(body);
  if (given === null || hasMoreKeys(given, MOST_FIELDS)) throw tooManyFields();
  const fields = withoutKey(request, given);
  for (const name of Object.keys(fields)) {
    if (Object.hasOwn(query, name)) throw duplicate(name);
  }
  if (body.kind === "form") return { values: { ...query, ...fields }, from: "text" };
  // In JSON an array is a value; from the query it is a repeated name.
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw duplicate(name);
  }
  return { values: { ...query, ...fields }, from: "json" };
}

/** Returns the key in a body, for the versions that allow it; null if there is none or the body is invalid. */
export function keyInBody(request: FastifyRequest): string | null {
  const body = bodyOf(request);
  if (body === null) return null;
  const fields = body.kind === "form" ? body.form() : fieldsOf(body.json());
  const key = fields?.["api_key"];
  return typeof key === "string" ? key : null;
}

function fieldsOf(parsed: JsonObject): Record<string, unknown> | null {
  return parsed.ok ? parsed.value : null;
}

function jsonFields(body: RawBody): Record<string, unknown> {
  const parsed = body.json();
  if (parsed.ok) return parsed.value;
  throw refuseJson(parsed);
}

/** Creates the 400 for a body that is no JSON object. */
export function refuseJson({ reason, field, message }: Extract<JsonObject, { readonly ok: false }>): Refusal {
  return new Refusal("missing_parameter", { reason, message, field: field ?? "body" });
}

function bodyOf(request: FastifyRequest): RawBody | null {
  return request.body instanceof RawBody && request.body.bytes.length > 0 ? request.body : null;
}

/** Removes `api_key`, which before v4 is the API key and not a parameter. */
function withoutKey(request: FastifyRequest, fields: Record<string, unknown>): Record<string, unknown> {
  if (request.apiVersion === "v4" || !Object.hasOwn(fields, "api_key")) return fields;
  if (hasMoreKeys(fields, MOST_FIELDS)) throw tooManyFields();
  const { api_key: _key, ...rest } = fields;
  return rest;
}

function tooManyFields(): Refusal {
  return refuseField({ field: "body", reason: "range", message: `must have at most ${MOST_FIELDS} fields` });
}

function duplicate(name: string): Refusal {
  return refuseField({ field: name.slice(0, 200), reason: "duplicate", message: "was given twice; give one value" });
}
