import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { isAccountGone } from "#control-plane/core/database/codes.ts";
import { NoTurn } from "#control-plane/core/database/turns.ts";
import { codeInVersion, errorBody } from "#control-plane/http/envelope.ts";
import {
  accountDeleted,
  Refusal,
  serviceUnavailable,
  STATUS_OF_CODE,
  type ErrorCode,
  type RefusalDetails,
} from "#control-plane/http/errors.ts";
import { factsOf, type ErrorRenderer } from "#control-plane/http/request.ts";
import { warningsMeta } from "#control-plane/http/warnings.ts";
import type { Metrics } from "#control-plane/core/metrics.ts";

/** Renders the error that ended a request, in the shape of the path's API version. */
type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Creates the handler that turns all errors into answers. Internal errors are logged with the request id; the answer
 * does not show their cause. `rendererOf` returns the error renderer of the surface that an unmatched path belongs to.
 */
export function createErrorHandler(
  log: Logger,
  metrics: Metrics,
  rendererOf: (request: FastifyRequest) => ErrorRenderer | undefined,
): ErrorHandler {
  return (error, request, reply) => {
    const refusal = isAborted(request) ? ABORTED : toRefusal(error, request.routeOptions.bodyLimit);
    if (refusal === null || (refusal !== error && refusal.status === 503)) {
      log.error({ request_id: request.id, route: request.routeOptions.url, err: error }, "request failed");
    }
    const { code: original, details } = refusal ?? INTERNAL;
    const version = request.apiVersion ?? "v4";
    const code = codeInVersion(version, original, details.field);
    const status = STATUS_OF_CODE[code];
    metrics.httpRefused.inc({ code });
    reply.code(status);
    if (details.headers !== undefined) reply.headers(details.headers);
    const render = request.is404 ? rendererOf(request) : request.routeOptions.config.renderError;
    // The handler can have set another content type before the error.
    reply.type("application/json; charset=utf-8");
    reply.send(
      render === undefined ? bodyOf(request, code, details) : render({ status, code, details }, request, reply),
    );
  };
}

const INTERNAL = new Refusal(
  "internal_error",
  "Internal error. It is logged with the request id; give the id to the operator.",
);

const ABORTED = new Refusal("missing_parameter", {
  field: "body",
  reason: "type",
  message: "The body ended before the length in Content-Length.",
});

/** Reports whether the client disconnected before its body was complete; no client reads the answer. */
function isAborted({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

/** Returns the answer for an error; null for an internal error. `bodyLimit`: the route's limit of the body, in bytes. */
function toRefusal(error: unknown, bodyLimit: number): Refusal | null {
  if (error instanceof Refusal) return error;
  if (isDatabaseAway(error)) return serviceUnavailable();
  if (isAccountGone(error)) return accountDeleted();
  if (error instanceof NoTurn) return tooManyWrites(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Refusal("payload_too_large", `The body is larger than ${bodyLimit} bytes, the limit.`);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Refusal("unsupported_media_type", "Send the body as Content-Type: application/json.");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new Refusal("missing_parameter", {
        field: "body",
        reason: "type",
        message: "The length of the body differs from the Content-Length header.",
      });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return notFound();
    default:
      return null;
  }
}

function tooManyWrites({ message }: NoTurn): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message: `The write was not begun: ${message}. Wait for the answers of others before you repeat it.`,
    headers: { "retry-after": "1" },
  });
}

/** Returns the body of an error in the request's version; for streamed answers, whose status is already sent. */
export function answerError(request: FastifyRequest, { code, details }: Refusal): object {
  const version = request.apiVersion ?? "v4";
  return bodyOf(request, codeInVersion(version, code, details.field), details);
}

/** Statuses of errors that a mistyped parameter can cause. */
const MAY_BE_MISTYPED: ReadonlySet<number> = new Set([400, 502]);

function bodyOf(request: FastifyRequest, code: ErrorCode, details: RefusalDetails): object {
  const extras = MAY_BE_MISTYPED.has(STATUS_OF_CODE[code]) ? warningsMeta(request) : {};
  return errorBody(request.apiVersion ?? "v4", code, details, factsOf(request), extras);
}

/** Creates the 404 for a path without a route. */
export function notFound(): Refusal {
  return new Refusal("not_found", "No such path. GET /api/v4/tools lists the tools.");
}
