import { Type, type Static, type TObject } from "typebox";
import type { FastifyRequest } from "fastify";
import { parseParams } from "#shared/schema/schema.ts";
import { readBody } from "#control-plane/http/body.ts";
import type { Pagination } from "#control-plane/http/envelope.ts";
import { requireRead } from "#control-plane/http/errors.ts";

/** Parses the query by a schema; unknown names are ignored. Throws Refusal. */
export function readQuery<T extends TObject>(schema: T, request: FastifyRequest): Static<T> {
  const query = request.query as Record<string, unknown>;
  return requireRead(parseParams(schema, query, { from: "text", unknown: "ignore" }));
}

/** Parses the JSON body of a write; unknown fields are refused, `readOnly` fields ignored. Throws Refusal. */
export function readWrite<T extends TObject>(
  schema: T,
  request: FastifyRequest,
  readOnly: readonly string[] = [],
): Static<T> {
  return requireRead(parseParams(schema, readBody(request), { from: "json", unknown: "refuse", readOnly }));
}

/** Largest id that a JavaScript number holds exactly. */
const MOST_ID = Number.MAX_SAFE_INTEGER;

/** Schema of an id in the query. */
export const IdField = Type.Integer({ minimum: 1, maximum: MOST_ID, description: "Id of the resource", examples: [1] });

/** Schema of the query of routes that act on one resource. */
export const IdQuery = Type.Object({ id: IdField });

/** Schema of the answer of every delete. */
export const DELETED = Type.Object({ id: IdField, deleted: Type.Literal(true, { description: "Always true" }) });

/** Parses the required `id` of the query. Throws Refusal. */
export function readId(request: FastifyRequest): number {
  return readQuery(IdQuery, request).id;
}

/** `page` and `per_page` of a list, for schemas of list queries. */
export const PageFields = {
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1, description: "Number of the page, from 1" }),
  ),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25, description: "Rows per page" })),
};

/** A page of a list: the rows to read, and the values of meta.pagination. */
interface Page {
  readonly limit: number;
  readonly offset: number;
  pagination(total: number): Pagination;
}

/** Returns the page of a list query, from fields parsed with PageFields. */
export function pageOf({ page = 1, per_page: limit = 25 }: { page?: number; per_page?: number }): Page {
  return {
    limit,
    offset: (page - 1) * limit,
    pagination: (total) => ({ total, page, per_page: limit, pages: Math.ceil(total / limit) }),
  };
}
