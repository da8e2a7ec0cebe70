import { Type } from "typebox";
import type { Clock } from "#shared/time/clock.ts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { errorBody } from "#control-plane/http/envelope.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer, factsOf } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { showPublic } from "#control-plane/checks/measurements/public.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/core/pages/frame.ts";
import { renderSharePage } from "#control-plane/surfaces/share-page/page.ts";
import { isFinal } from "#control-plane/checks/jobs/durable-run/status.ts";

/** Maximum age of cached copies: a finished result does not change but can be deleted. */
const CACHE_SECONDS = 60;

/** Registers GET /s/<id>: a shared result for anyone with the link, as a page or as JSON. */
export function registerSharedPage(
  server: FastifyInstance,
  deps: { readonly visits: AddressLimiter; readonly measurements: Measurements; readonly clock: Clock },
): void {
  const { visits, measurements, clock } = deps;
  server.route<{ Params: { id: string } }>({
    method: "GET",
    url: "/s/:id",
    config: {
      renderError: ({ code, details }, request, reply) => {
        describe(request, reply);
        if (wantsJson(request)) return errorBody("v4", code, details, factsOf(request));
        return renderMessage(code === "not_found" ? "Not found" : "Not available", details.message);
      },
    },
    schema: operation({
      id: "read_shared",
      tag: "Measurements",
      summary: "Get a shared result by its id",
      description:
        "HTML by default; JSON with Accept: application/json or ?format=json. Anyone who has the id can read it.",
      security: "none",
      data: Type.Unknown({ description: "A measurement without the owner's data: id, account, free text" }),
      query: Type.Object({
        format: Type.Optional(
          Type.String({ enum: ["json", "html"], description: "Format; by default the Accept header decides" }),
        ),
      }),
      errors: ["not_found", "rate_limit_exceeded"],
    }),
    handler: async (request, reply) => {
      takeVisit(visits, request);
      const found = await measurements.findShared(request.params.id);
      if (found === null) throw new Refusal("not_found", "No shared result has this id, or it has expired.");
      const contract = measurements.contract(found.measurement.tool);
      const shown = showPublic(contract, found);
      describe(request, reply);
      if (isFinal(found.measurement.status)) reply.header("cache-control", `public, max-age=${CACHE_SECONDS}`);
      return wantsJson(request) ? answer(request, shown) : renderSharePage(shown, contract, clock.now());
    },
  });
}

function describe(request: FastifyRequest, reply: FastifyReply): void {
  const json = wantsJson(request);
  reply.type(json ? "application/json; charset=utf-8" : "text/html; charset=utf-8");
  reply.header("content-security-policy", PAGE_POLICY).header("x-robots-tag", "noindex").header("vary", "accept");
}

/** Reports whether to send JSON: by `format`, else if Accept names JSON and not HTML. */
function wantsJson(request: FastifyRequest): boolean {
  const { format } = request.query as { readonly format?: unknown };
  if (format === "json" || format === "html") return format === "json";
  const accept = request.headers.accept ?? "";
  return /application\/json/i.test(accept) && !/text\/html/i.test(accept);
}
