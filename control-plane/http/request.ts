import type { FastifyReply, FastifyRequest } from "fastify";
import type { Extras, Facts } from "#control-plane/http/envelope.ts";
import { successBody } from "#control-plane/http/envelope.ts";
import type { ErrorCode, RefusalDetails } from "#control-plane/http/errors.ts";
import type { Version } from "#control-plane/http/versions.ts";
import { warningsMeta, type Warning } from "#control-plane/http/warnings.ts";
import type { Principal } from "#control-plane/access/principal.ts";

/** How a surface with shapes of its own (open tier, /mcp) writes an error; it may set headers. */
export type ErrorRenderer = (
  error: { readonly status: number; readonly code: ErrorCode; readonly details: RefusalDetails },
  request: FastifyRequest,
  reply: FastifyReply,
) => string | object;

declare module "fastify" {
  interface FastifyRequest {
    /** The key's owner, once the gate has let the request pass. */
    principal: Principal | null;
    /** The client's, behind trusted proxies too (http/client-address.ts); `ip` is the peer's, whoever that is. */
    clientAddress: string;
    /** Monotonic milliseconds at which the request's headers had arrived. */
    startedAt: number;
    /** By the path's prefix; null under none of the versions. */
    apiVersion: Version | null;
    /** Monotonic milliseconds now; the App's clock. */
    monotonic: () => number;
    /** Fields of the body that have no effect, as its reader noted them; the query is compared with the route's schema. */
    ignored: readonly Warning[] | null;
  }
  interface FastifyContextConfig {
    renderError?: ErrorRenderer;
    /** Names the query may hold where the route's schema does not document them as its query. */
    queryNames?: readonly string[];
  }
}

/** request_id and duration_ms of an answer given now. */
export function factsOf(request: FastifyRequest): Facts {
  return { requestId: request.id, durationMs: Math.max(0, Math.round(request.monotonic() - request.startedAt)) };
}

/** The success body of a request in its version's shape; hand it to `reply.send`. */
export function answer(request: FastifyRequest, data: unknown, extras?: Extras): object {
  const described = { ...extras, ...warningsMeta(request) };
  return successBody(request.apiVersion ?? "v4", data, factsOf(request), described);
}

/** The caller of a keyed route. Throws where the route has no gate before it: a bug. */
export function callerOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error("this route has no gate before it");
  return request.principal;
}
