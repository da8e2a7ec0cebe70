import type { FastifyReply, FastifyRequest } from "fastify";
import { renderCsv, renderText } from "#shared/contracts/render.ts";
import { errorFields } from "#control-plane/http/envelope.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";

/** Formats of the open tier; text is the default. */
export const FORMATS = ["text", "json", "csv"] as const;
/** A format of the open tier. */
export type Format = (typeof FORMATS)[number];

/** Content-Type of each format. */
export const TYPES: Readonly<Record<Format, string>> = {
  text: "text/plain; charset=utf-8",
  json: "application/json; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
};

/** Header fields that pages of any origin can read (CORS). */
const EXPOSED =
  "Age, ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy";

/** Returns the requested format; undefined if it is unknown. */
export function formatOf(request: FastifyRequest): Format | undefined {
  const { format } = request.query as { readonly format?: unknown };
  if (format === undefined || format === "") return "text";
  return FORMATS.find((known) => known === format);
}

/** Renders the body in a format; `source`: URL of the same call. */
export function renderAs(format: Format, data: unknown, source: string): string {
  switch (format) {
    case "text":
      return renderText(data, source);
    case "json":
      return `${JSON.stringify(data)}\n`;
    case "csv":
      return renderCsv(data);
  }
}

/** Sets Content-Type and the CORS headers for pages of any origin. */
export function describeAnswer(reply: FastifyReply, format: Format): FastifyReply {
  return reply
    .type(TYPES[format])
    .header("access-control-allow-origin", "*")
    .header("access-control-expose-headers", EXPOSED)
    .header("cross-origin-resource-policy", "cross-origin");
}

const NO_TOOL = { message: "The open tier has no such tool. GET /api/open/ lists its tools." };

/** Creates the renderer of errors in the requested format, with the same fields as other surfaces. */
export function openErrors(baseUrl: string): ErrorRenderer {
  return ({ code, details }, request, reply) => {
    const error = errorFields(code, code === "not_found" ? NO_TOOL : details);
    const format = formatOf(request) ?? "text";
    describeAnswer(reply, format);
    return renderAs(format, { error, meta: { request_id: request.id } }, `${baseUrl}${request.raw.url ?? ""}`);
  };
}
