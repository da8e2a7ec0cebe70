import type { FastifyInstance, FastifyRequest } from "fastify";
import { Refusal, refuseField } from "#control-plane/http/errors.ts";
import { parseJsonObject, type JsonObject } from "#control-plane/http/json.ts";

/** Bytes a body may have: 1 MiB; more is 413. */
export const BODY_LIMIT = 1_048_576;

/** A body as it came: the bytes stay for fingerprints and signatures, reading happens once, when someone asks. */
export class RawBody {
  readonly kind: "json" | "form";
  readonly bytes: Buffer;
  #json: JsonObject | null = null;

  constructor(kind: "json" | "form", bytes: Buffer) {
    this.kind = kind;
    this.bytes = bytes;
  }

  /** The body as a JSON object. */
  json(): JsonObject {
    this.#json ??= parseJsonObject(this.bytes);
    return this.#json;
  }

  /** The body as form fields; a name given twice has an array. */
  form(): Record<string, unknown> {
    const fields = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(this.bytes.toString("utf8"))) {
      const values = fields.get(name);
      if (values === undefined) fields.set(name, [value]);
      else values.push(value);
    }
    return Object.fromEntries(Array.from(fields, ([name, values]) => [name, values.length === 1 ? values[0] : values]));
  }
}

/** Parameters as they came, and how parseParams is to read them. */
export interface RawParams {
  readonly values: Readonly<Record<string, unknown>>;
  readonly from: "text" | "json";
}

/** Accepts JSON and forms and keeps their bytes; every other type is 415. */
export function acceptBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const types = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;
  for (const kind of ["json", "form"] as const) {
    server.addContentTypeParser<Buffer>(types[kind], { parseAs: "buffer" }, (request, bytes, done) => {
      const encoding = request.headers["content-encoding"];
      if (encoding === undefined || encoding === "identity") return done(null, new RawBody(kind, bytes));
      done(new Refusal("unsupported_media_type", `Send the body uncompressed, without Content-Encoding: ${encoding}.`));
    });
  }
}

/** The fields of a JSON write; an empty body is {}. Throws Refusal for forms, broken JSON and anything but an object. */
export function readBody(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const body = bodyOf(request);
  if (body === null) return {};
  if (body.kind === "form") throw new Refusal("unsupported_media_type", "Send the body as application/json.");
  return withoutKey(request, jsonFields(body));
}

/** Query and body of a tool as one set of parameters. Throws Refusal where both name the same one. */
export function rawParams(request: FastifyRequest): RawParams {
  const query = withoutKey(request, request.query as Record<string, unknown>);
  const body = bodyOf(request);
  if (body === null) return { values: query, from: "text" };
  const fields = withoutKey(request, body.kind === "form" ? body.form() : jsonFields(body));
  for (const name of Object.keys(fields)) {
    if (Object.hasOwn(query, name)) throw duplicate(name);
  }
  if (body.kind === "form") return { values: { ...query, ...fields }, from: "text" };
  // Read as JSON an array is a value; from the query it is a name given twice.
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw duplicate(name);
  }
  return { values: { ...query, ...fields }, from: "json" };
}

/** The key in a body, for the versions that take it there; null where there is none or the body cannot be read. */
export function keyInBody(request: FastifyRequest): string | null {
  const body = bodyOf(request);
  if (body === null) return null;
  const fields = body.kind === "form" ? body.form() : body.json();
  const key = body.kind === "form" ? (fields as Record<string, unknown>)["api_key"] : jsonKey(fields as JsonObject);
  return typeof key === "string" ? key : null;
}

function jsonKey(parsed: JsonObject): unknown {
  return parsed.ok ? parsed.value["api_key"] : undefined;
}

function jsonFields(body: RawBody): Record<string, unknown> {
  const parsed = body.json();
  if (parsed.ok) return parsed.value;
  const { reason, field, message } = parsed;
  throw new Refusal("missing_parameter", { reason, message, field: field ?? "body" });
}

function bodyOf(request: FastifyRequest): RawBody | null {
  return request.body instanceof RawBody && request.body.bytes.length > 0 ? request.body : null;
}

/** Before v4 `api_key` is the key's own place, not a parameter of anything. */
function withoutKey(request: FastifyRequest, fields: Record<string, unknown>): Record<string, unknown> {
  if (request.apiVersion === "v4" || !Object.hasOwn(fields, "api_key")) return fields;
  const { api_key: _key, ...rest } = fields;
  return rest;
}

function duplicate(name: string): Refusal {
  return refuseField({ field: name.slice(0, 200), reason: "duplicate", message: "was given twice; give one value" });
}
