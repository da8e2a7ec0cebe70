import { Type, type TObject } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { errorBody } from "#control-plane/http/envelope.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { type ErrorRenderer, factsOf } from "#control-plane/http/request.ts";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { NO_PLACE, renderMessagePage } from "#control-plane/public/status-pages/render/html/messages.ts";

/** A form of a page at a path below it. */
interface PublicRoute {
  readonly path: string;
  /** Content-Type. */
  readonly type: string;
  /** For the API document: id and summary of the operation; null: not listed. */
  readonly operation: { readonly id: string; readonly summary: string } | null;
  readonly query?: TObject;
}

/** Renders an error as a page. */
const renderPageError: ErrorRenderer = ({ code, details }, _request, reply) => {
  reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", policyOf({ ...NO_PLACE.look, canSubscribe: false }));
  return String(renderMessagePage(NO_PLACE, code === "not_found" ? "Not found" : "Not available", details.message));
};

/**
 * Creates the renderer of errors of pages. A path at the root of a host that is no page's domain has no route: its error is
 * that of the API.
 */
export function errorRendererOf(pages: { slugOfDomain(host: string): string | null }): ErrorRenderer {
  return (error, request, reply) => {
    const { slug } = request.params as { readonly slug?: string };
    const isPage = slug !== undefined || pages.slugOfDomain(request.headers.host ?? "") !== null;
    return isPage || error.code === "rate_limit_exceeded"
      ? renderPageError(error, request, reply)
      : errorBody("v4", error.code, error.details, factsOf(request));
  };
}

/** Adds GET and HEAD of one form. The paths on the pages' own domains are not in the API document. */
export function addRoutes(
  server: FastifyInstance,
  prefix: string,
  { path, type, operation: described, query }: PublicRoute,
  options: {
    readonly renderError?: ErrorRenderer;
    readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  },
): void {
  const { renderError, handler } = options;
  for (const method of ["GET", "HEAD"] as const) {
    const isListed = described !== null && prefix !== "" && method === "GET";
    server.route({
      method,
      url: `${prefix}${path}` || "/",
      schema: isListed
        ? operation({
            ...described,
            tag: "Status pages",
            description:
              "At most 60 requests per minute and client address. With a key: also pages of the account that are not public" +
              (type.startsWith("text/html") ? ", as for its members who are signed in." : "."),
            security: "none",
            plain: type.split(";", 1)[0] ?? type,
            data: type.includes("json") ? Type.Unknown() : Type.String(),
            ...(query === undefined ? {} : { query }),
            errors: ["not_found", "rate_limit_exceeded"],
          })
        : { hide: true },
      config: { isOfPage: true, ...(renderError === undefined ? {} : { renderError }) },
      handler,
    });
  }
}
