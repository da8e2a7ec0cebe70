import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { notFound } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createDocument, sendDocument, type Document } from "#control-plane/http/operations/document.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { type ErrorRenderer, factsOf } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { PageView } from "#control-plane/status-pages/page.ts";
import { renderBadge, renderErrorBadge } from "#control-plane/status-pages/render/badge.ts";
import { createEntrances, type EntranceDeps } from "#control-plane/status-pages/routes/public-entrances.ts";
import { PUBLIC_FORMATS, type PublicFormat } from "#control-plane/status-pages/routes/public-formats.ts";
import { ageOf, PUBLIC_CACHE, READABLE } from "#control-plane/status-pages/routes/public-headers.ts";
import { errorBody } from "#control-plane/http/envelope.ts";
import { PAGE_POLICY, renderMessage } from "#control-plane/pages/frame.ts";

/** Content-Type of badges. */
const SVG_TYPE = "image/svg+xml; charset=utf-8";

/** Renders an error as a page. */
const renderPageError: ErrorRenderer = ({ code, details }, _request, reply) => {
  reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY);
  return renderMessage(code === "not_found" ? "Not found" : "Not available", details.message);
};

/** Renders an error of the root, which is a page on a page's own domain only: elsewhere it is a path without a route. */
const renderRootError: ErrorRenderer = (error, request, reply) =>
  error.code === "rate_limit_exceeded"
    ? renderPageError(error, request, reply)
    : errorBody("v4", error.code, error.details, factsOf(request));

/** Renders an error as a badge. */
const renderBadgeError: ErrorRenderer = ({ code }, _request, reply) => {
  reply.type(SVG_TYPE).headers(READABLE);
  return renderErrorBadge(code.replaceAll("_", " "));
};

/** Answers to requests with a key can be of a page that is not public. */
const KEYED_CACHE = "private, no-store";

const BADGE_QUERY = Type.Object({
  label: Type.Optional(
    Type.String({ maxLength: 40, description: "Text on the left; by default status or uptime", examples: ["API"] }),
  ),
  monitor: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Id of a monitor of the page" }),
  ),
  metric: Type.Optional(
    Type.String({ enum: ["status", "uptime"], description: "uptime: percentage of the last 90 days" }),
  ),
});

/** Documentation of the badge. */
const BADGE = {
  path: "/badge.svg",
  type: SVG_TYPE,
  operation: {
    id: "read_status_page_badge",
    summary: "Get the status of a page, or of one of its monitors, as a badge",
  },
} as const;

/** Dependencies of the routes. */
interface PublicPagesDeps extends EntranceDeps {
  readonly clock: Clock;
  /** Address of this service. */
  readonly baseUrl: string;
  /** Answers requests for the root that are for no page's domain; null: there is nothing for this client. */
  readonly home?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null;
}

/**
 * Registers the public forms of status pages: HTML, feeds, badge, and JSON in Statuspage's shape, at /status/<slug> and
 * at the root of the pages' own domains.
 */
export function registerPublicPages(server: FastifyInstance, { baseUrl, clock, home, ...deps }: PublicPagesDeps): void {
  const serviceUrl = baseUrl.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl;
  const documents = new WeakMap<PageView, Map<string, Document>>();

  /** Returns a body of a view, rendered once for each view: a view that is dropped takes its bodies with it. */
  function documentOf(view: PageView, key: string, type: string, render: () => string): Document {
    const known = documents.get(view) ?? new Map<string, Document>();
    documents.set(view, known);
    const document = known.get(key) ?? createDocument(render(), { type, cacheControl: PUBLIC_CACHE });
    known.set(key, document);
    return document;
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    view: PageView,
    document: Document,
  ): Promise<FastifyReply> {
    const isKeyed = request.principal !== null;
    if (!isKeyed) reply.headers(ageOf(view, clock.now()));
    return await sendDocument(request, reply, isKeyed ? { ...document, cacheControl: KEYED_CACHE } : document);
  }

  for (const entrance of createEntrances(deps)) {
    const { prefix } = entrance;
    for (const format of PUBLIC_FORMATS) {
      const pageError = prefix === "" ? renderRootError : renderPageError;
      addRoutes(server, prefix, format, {
        ...(format.path === "" ? { renderError: pageError } : {}),
        async handler(request, reply) {
          if (prefix === "" && format.path === "" && deps.pages.slugOfDomain(request.headers.host ?? "") === null) {
            takeVisit(deps.visits, request);
            const answered = home?.(request, reply) ?? null;
            if (answered === null) throw notFound();
            return await answered;
          }
          const view = await entrance.viewOf(request, reply);
          const base = entrance.baseOf(view);
          const document = documentOf(view, `${base} ${format.path}`, format.type, () =>
            format.render(view, { base, serviceUrl }),
          );
          reply.headers(format.headers(view));
          return await send(request, reply, view, document);
        },
      });
    }
    addRoutes(server, prefix, BADGE, {
      renderError: renderBadgeError,
      async handler(request, reply) {
        const { label = null, monitor = null, metric = "status" } = readQuery(BADGE_QUERY, request);
        const view = await entrance.viewOf(request, reply);
        const draw = (): string => {
          const badge = renderBadge(view, { label, monitorId: monitor, isUptime: metric === "uptime" });
          if (badge === null) throw new Refusal("not_found", "The page has no monitor with this id.");
          return badge;
        };
        // Badges with a label are not kept: clients choose the label.
        const document =
          label === null
            ? documentOf(view, `badge ${monitor} ${metric}`, SVG_TYPE, draw)
            : createDocument(draw(), { type: SVG_TYPE, cacheControl: PUBLIC_CACHE });
        reply.headers(READABLE);
        return await send(request, reply, view, document);
      },
    });
  }
}

/** Adds GET and HEAD of one form. The paths on the pages' own domains are not in the API document. */
function addRoutes(
  server: FastifyInstance,
  prefix: string,
  { path, type, operation: described }: Pick<PublicFormat, "path" | "type" | "operation">,
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
              "At most 60 requests per minute and client address. With a key: also pages of the account that are not public.",
            security: "none",
            plain: type.split(";", 1)[0] ?? type,
            data: type.includes("json") ? Type.Unknown() : Type.String(),
            ...(path === BADGE.path ? { query: BADGE_QUERY } : {}),
            errors: ["not_found", "rate_limit_exceeded"],
          })
        : { hide: true },
      config: { isOfPage: true, ...(renderError === undefined ? {} : { renderError }) },
      handler,
    });
  }
}
