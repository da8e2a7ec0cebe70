import type { FastifyReply, FastifyRequest } from "fastify";
import { type Extras, type AnswerMeta, successBody } from "#control-plane/http/envelope.ts";
import type { ErrorCode, RefusalDetails } from "#control-plane/http/errors.ts";
import type { Version } from "#control-plane/http/versions.ts";
import { warningsMeta, type Warning } from "#control-plane/http/warnings.ts";
import type { Actor } from "#control-plane/http/access/changes.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import type { Principal } from "#control-plane/http/access/principal.ts";

/** Renders an error for a surface with its own answer shapes (open tier, /mcp); it can set headers. */
export type ErrorRenderer = (
  error: { readonly status: number; readonly code: ErrorCode; readonly details: RefusalDetails },
  request: FastifyRequest,
  reply: FastifyReply,
) => string | object;

declare module "fastify" {
  interface FastifyRequest {
    /** Owner of the key; set by the gate. */
    principal: Principal | null;
    /** State of the caller's limits after this request was counted; set by the gate. */
    counted: LimitState | null;
    /** Address of the client, also behind trusted proxies (connection/client-address.ts); `ip` is that of the peer. */
    clientAddress: string;
    /** Arrival of the request's headers, monotonic milliseconds. */
    startedAt: number;
    /** The path before all paths of the service at the host of the request; "": its root is that of the host. */
    basePath: string;
    /** API version by the path's prefix; null for paths without a version. */
    apiVersion: Version | null;
    /** Returns the monotonic milliseconds of the app's clock. */
    monotonic: () => number;
    /**
     * Warnings about fields of the body that were ignored, set by its reader. Ignored query names follow from the route's
     * schema.
     */
    ignored: readonly Warning[] | null;
  }
  interface FastifyContextConfig {
    renderError?: ErrorRenderer;
    /** Names allowed in the query if the route's schema does not list them. */
    queryNames?: readonly string[];
  }
}

/** Returns request_id and duration_ms of an answer sent now. */
export function factsOf(request: FastifyRequest): AnswerMeta {
  return { requestId: request.id, durationMs: Math.max(0, Math.round(request.monotonic() - request.startedAt)) };
}

/** Returns the body of a successful answer in the request's version, for `reply.send`. `warnings`: of the result. */
export function answer(request: FastifyRequest, data: unknown, extras?: Extras, warnings?: readonly Warning[]): object {
  const described = { ...extras, ...warningsMeta(request, warnings) };
  return successBody(request.apiVersion ?? "v4", data, factsOf(request), described);
}

/** Returns the state of the caller's limits after a keyed request was counted. Throws if the route has no gate: a bug. */
export function countedOf(request: FastifyRequest): LimitState {
  if (request.counted === null) throw new Error("this route has no gate before it");
  return request.counted;
}

/** Returns the caller of a keyed route. Throws if the route has no gate: a bug. */
export function callerOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error("this route has no gate before it");
  return request.principal;
}

/** Returns who is named in the log of changes for what a request changes. Throws if the route has no gate: a bug. */
export function actorOf(request: FastifyRequest): Actor {
  return { type: "key", id: callerOf(request).keyId };
}
