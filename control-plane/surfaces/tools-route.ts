import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { Contract } from "#shared/tools/define.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { callerOf, factsOf } from "#control-plane/http/request.ts";
import { warningsMeta } from "#control-plane/http/warnings.ts";
import { createCatalogue } from "#control-plane/surfaces/catalogue.ts";
import { operation } from "#control-plane/http/operation.ts";

const TEXT = { description: "As in the tool's contract" };

/** One row of the catalogue, as a schema for the docs. */
const ROW = Type.Object({
  name: Type.String(TEXT),
  path: Type.String({ description: "Path of the tool's endpoint" }),
  title: Type.String(TEXT),
  summary: Type.String(TEXT),
  scope: Type.String({ description: "Scope a key needs" }),
  methods: Type.Array(Type.String(), { description: "HTTP methods" }),
  params: Type.Unknown({ description: "JSON Schema of the parameters" }),
  result: Type.Unknown({ description: "JSON Schema of data" }),
  open_tier: Type.Boolean({ description: "Whether the keyless open tier has it" }),
  locations: Type.Boolean({ description: "Whether it takes the locations parameter" }),
  allowed: Type.Boolean({ description: "Whether the calling key has the scope" }),
});

/** GET /api/v4/tools: the catalogue with `allowed` by the calling key's scopes. */
export function registerCatalogue(server: FastifyInstance, gate: Gate, contracts: readonly Contract[]): void {
  const catalogue = createCatalogue(contracts);
  server.route({
    ...gate.keyed({ scope: null }),
    method: "GET",
    url: "/api/v4/tools",
    schema: operation({
      id: "list_tools",
      tag: "Catalogue",
      summary: "The tools and which of them the key may use",
      data: Type.Array(ROW),
    }),
    // The rows are made once per set of scopes; only the meta is this request's own.
    handler: (request, reply) => {
      const { requestId, durationMs } = factsOf(request);
      const base = { request_id: requestId, duration_ms: durationMs, api_version: "4.0" };
      const meta = JSON.stringify({ ...base, ...warningsMeta(request) });
      return reply
        .type("application/json; charset=utf-8")
        .send(`{"data":${catalogue(callerOf(request).scopes)},"meta":${meta}}`);
    },
  });
}
