import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { App } from "#control-plane/core/app.ts";
import { hasScope } from "#control-plane/http/access/principal.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { hasTag } from "#control-plane/http/operations/document.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdField, PageFields, pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { OLD_PUBLIC_PAGE, PUBLIC_PAGE, publicJson, toOldJson } from "#control-plane/public/status-pages/public-json.ts";
import { ageOf, PRIVATE_CACHE, PUBLIC_CACHE } from "#control-plane/public/status-pages/routes/public-headers.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";

/** Dependencies of the reads. */
export interface ReadRoutesDeps extends Pick<App, "sql" | "clock"> {
  readonly gate: Gate;
  /** Limits requests by slug, which need no key, by client address. */
  readonly visits: AddressLimiter;
  readonly pages: StatusPages;
}

/** Message for a slug without a page; the same for a page that the caller cannot see. */
export const NO_SLUG = "No status page has this slug.";

/** Query of GET. */
const QUERY = Type.Object({
  slug: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      examples: ["example-shop"],
      description: "Slug of a page to read as its visitors see it. No key is needed then",
    }),
  ),
  id: Type.Optional({ ...IdField, description: "Id of one of your pages to read its settings" }),
  ...PageFields,
});

/** Registers GET /api/v4/status and /api/v3/status. */
export function registerReads(server: FastifyInstance, deps: ReadRoutesDeps): void {
  for (const version of ["v4", "v3"] as const) registerRead(server, deps, version);
}

function registerRead(server: FastifyInstance, deps: ReadRoutesDeps, version: "v4" | "v3"): void {
  const key = version === "v4" ? "headers" : "anywhere";
  const keyed = deps.gate.keyed({ scope: "monitors:read", key });
  const isOld = version === "v3";
  const publicPage = isOld ? OLD_PUBLIC_PAGE : PUBLIC_PAGE;
  server.route({
    onRequest: (request, reply, done) => (isBySlug(request) ? done() : keyed.onRequest(request, reply, done)),
    method: "GET",
    url: `/api/${version}/status`,
    schema: operation({
      id: isOld ? "v3_read_status" : "read_status",
      tag: isOld ? "Status pages, version 3" : "Status pages",
      summary: "Get a status page by slug as its visitors see it, or list your pages, or get one of yours by id",
      description:
        "With slug no key is needed; a page that is not public is found only with a key of its account and the scope monitors or monitors:read. The data is at " +
        "most 10 seconds old and has an ETag: a request with it in If-None-Match returns 304 if nothing has changed.",
      security: "optional",
      data: Type.Union([publicPage, Type.Array(Type.Ref("StatusPage#")), Type.Ref("StatusPage#")]),
      query: QUERY,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: (request, reply) => (isBySlug(request) ? showBySlug(deps, request, reply) : showOwn(deps, request)),
  });

  async function showBySlug(
    { gate, clock, visits, pages }: ReadRoutesDeps,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    takeVisit(visits, request);
    const { slug = "" } = readQuery(QUERY, request);
    const open = await pages.view(slug, null);
    // Only a page that is not public needs to know who asks.
    const caller = open === null ? await gate.identify(request, key) : null;
    const isAllowed = caller !== null && hasScope(caller.scopes, "monitors:read");
    const view = open ?? (isAllowed ? await pages.view(slug, caller.accountId) : null);
    if (view === null) throw new Refusal("not_found", NO_SLUG);
    const { data, tag } = publicJson(view);
    const cacheControl = open === null ? PRIVATE_CACHE : PUBLIC_CACHE;
    // Weak, because meta differs in each answer.
    reply.headers({ etag: `W/"${tag}"`, "cache-control": cacheControl, ...ageOf(view, clock.now()) });
    if (hasTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
    return reply.send(answer(request, isOld ? toOldJson(data) : data));
  }
}

function isBySlug(request: FastifyRequest): boolean {
  return (request.query as Record<string, unknown>)["slug"] !== undefined;
}

async function showOwn({ sql, pages }: ReadRoutesDeps, request: FastifyRequest): Promise<object> {
  const { accountId } = callerOf(request);
  const { id, ...fields } = readQuery(QUERY, request);
  if (id !== undefined) {
    return answer(request, requireFound(await pages.find(sql, { accountId, id }), "status page"));
  }
  const page = pageOf(fields);
  const { pages: rows, total } = await pages.list(accountId, page);
  return answer(request, rows, { pagination: page.pagination(total) });
}
