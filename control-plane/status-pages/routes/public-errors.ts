import { errorBody } from "#control-plane/http/envelope.ts";
import { factsOf, type ErrorRenderer } from "#control-plane/http/request.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/pages/frame.ts";
import { renderErrorBadge } from "#control-plane/status-pages/render/badge.ts";
import { READABLE } from "#control-plane/status-pages/routes/public-headers.ts";

/** Content-Type of badges. */
export const SVG_TYPE = "image/svg+xml; charset=utf-8";

/** Renders an error as a page. */
export const renderPageError: ErrorRenderer = ({ code, details }, _request, reply) => {
  reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY);
  return renderMessage(code === "not_found" ? "Not found" : "Not available", details.message);
};

/** Renders an error of the root, which is a page on a page's own domain only: elsewhere it is a path without a route. */
export const renderRootError: ErrorRenderer = (error, request, reply) =>
  error.code === "rate_limit_exceeded"
    ? renderPageError(error, request, reply)
    : errorBody("v4", error.code, error.details, factsOf(request));

/** Renders an error as a badge. */
export const renderBadgeError: ErrorRenderer = ({ code }, _request, reply) => {
  reply.type(SVG_TYPE).headers(READABLE);
  return renderErrorBadge(code.replaceAll("_", " "));
};
