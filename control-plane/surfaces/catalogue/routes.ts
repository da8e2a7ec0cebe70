import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Contract } from "#shared/tools/define.ts";
import { chooseCoding } from "#control-plane/http/accept-encoding.ts";
import { joinCoded } from "#control-plane/http/coded-text.ts";
import { hasTag } from "#control-plane/http/operations/document.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { callerOf, factsOf } from "#control-plane/http/request.ts";
import { warningsMeta } from "#control-plane/http/warnings.ts";
import { createCatalogue } from "#control-plane/surfaces/catalogue/document.ts";
import { operation } from "#control-plane/http/operations/operation.ts";

const TEXT = { description: "As in the tool's contract" };

/** Schema of one row of the catalogue. */
const ROW = Type.Object({
  name: Type.String(TEXT),
  path: Type.String({ description: "Path of the tool's endpoint" }),
  title: Type.String(TEXT),
  summary: Type.String(TEXT),
  scope: Type.String({ description: "Scope that a key needs" }),
  methods: Type.Array(Type.String(), { description: "HTTP methods" }),
  open_tier: Type.Boolean({ description: "Whether the open tier offers the tool without a key" }),
  locations: Type.Boolean({ description: "Whether the tool accepts the locations parameter" }),
  allowed: Type.Boolean({ description: "Whether your key has the scope" }),
  params: Type.Optional(Type.Unknown({ description: "JSON Schema of the parameters; only with schemas=1" })),
  result: Type.Optional(Type.Unknown({ description: "JSON Schema of data; only with schemas=1" })),
});

const QUERY = Type.Object({
  schemas: Type.Optional(
    Type.Boolean({ default: false, description: "1: include the JSON Schemas of each tool's parameters and result" }),
  ),
});

/** Registers GET /api/v4/tools: the catalogue, with `allowed` for the scopes of the calling key. */
export function registerCatalogue(server: FastifyInstance, gate: Gate, contracts: readonly Contract[]): void {
  const catalogue = createCatalogue(contracts);
  server.route({
    ...gate.keyed({ scope: null }),
    method: "GET",
    url: "/api/v4/tools",
    schema: operation({
      id: "list_tools",
      tag: "Catalogue",
      summary: "List the tools and whether your key can use them",
      description: "The response has an ETag. A request with it in If-None-Match returns 304 if nothing has changed.",
      data: Type.Array(ROW),
      query: QUERY,
      errors: ["missing_parameter"],
    }),
    handler: (request, reply) => {
      const { schemas = false } = readQuery(QUERY, request);
      const { text, coded, hash } = catalogue(callerOf(request).scopes, schemas);
      // Weak, because meta differs in each answer. Shared caches store nothing; the client revalidates each time.
      reply.headers({ etag: `W/"${hash}"`, vary: "accept-encoding", "cache-control": "private, no-cache" });
      if (hasTag(request.headers["if-none-match"], hash)) return reply.code(304).send();
      reply.type("application/json; charset=utf-8");
      const coding = chooseCoding(request.headers["accept-encoding"]);
      const meta = metaOf(request);
      if (coding === "identity") return reply.send(text + meta);
      reply.header("content-encoding", coding);
      return joinCoded(coding, coded, { after: Buffer.from(meta) }).then((body) => reply.send(body));
    },
  });
}

/** Returns the rest of the body after the rows: the meta of this request. */
function metaOf(request: FastifyRequest): string {
  const { requestId, durationMs } = factsOf(request);
  const base = { request_id: requestId, duration_ms: durationMs, api_version: "4.0" };
  return `,"meta":${JSON.stringify({ ...base, ...warningsMeta(request) })}}`;
}
