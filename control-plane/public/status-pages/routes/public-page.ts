import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { App } from "#control-plane/core/app.ts";
import { notFound } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createDocument, sendDocument, type Document } from "#control-plane/http/operations/document.ts";
import { readQuery } from "#control-plane/http/params.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import { SentFile, sendFile } from "#control-plane/http/sent-file.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import { PAGE_SCRIPTS } from "#control-plane/public/status-pages/browser/scripts.ts";
import { renderBadge, renderErrorBadge } from "#control-plane/public/status-pages/render/badge.ts";
import { createEntrances, type EntranceDeps } from "#control-plane/public/status-pages/routes/public-entrances.ts";
import { PUBLIC_FORMATS } from "#control-plane/public/status-pages/routes/public-formats.ts";
import {
  HASHED_CACHE,
  OWN_CACHE,
  PUBLIC_CACHE,
  READABLE,
  ageOf,
} from "#control-plane/public/status-pages/routes/public-headers.ts";
import { addRoutes, errorRendererOf } from "#control-plane/public/status-pages/routes/public-route.ts";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderArchivePage, renderIncidentPage } from "#control-plane/public/status-pages/render/html/past-pages.ts";

/** Content-Type of badges. */
const SVG_TYPE = "image/svg+xml; charset=utf-8";

/** Renders an error as a badge. */
const renderBadgeError: ErrorRenderer = ({ code }, _request, reply) => {
  reply.type(SVG_TYPE).headers(READABLE);
  return renderErrorBadge(code.replaceAll("_", " "));
};

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

/**
 * Registers the public forms of status pages: HTML, feeds, badge, and JSON in Statuspage's shape, at /status/<slug> and
 * at the root of the pages' own domains. `home` answers requests for the root that are for no page's domain; null if there
 * is nothing for this client.
 */
export function registerPublicPages(
  server: FastifyInstance,
  {
    baseUrl,
    clock,
    home,
    ...deps
  }: EntranceDeps &
    Pick<App, "clock"> & {
      readonly baseUrl: string;
      readonly home?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null;
    },
): void {
  const sender = createPublicSender(clock);
  registerPageScripts(server);
  registerPastPages(server, { clock, ...deps });
  registerLogos(server, deps);
  const renderError = errorRendererOf(deps.pages);
  const readView = (slug: string, viewer: number | null) => deps.pages.view(slug, viewer);
  for (const entrance of createEntrances(deps)) {
    const { prefix } = entrance;
    for (const format of PUBLIC_FORMATS) {
      addRoutes(server, prefix, format, {
        ...(format.path === "" ? { renderError } : {}),
        async handler(request, reply) {
          if (prefix === "" && format.path === "" && deps.pages.slugOfDomain(request.headers.host ?? "") === null) {
            takeVisit(deps.visits, request);
            const answered = home?.(request, reply) ?? null;
            if (answered === null) throw notFound();
            return await answered;
          }
          const { found: view, isForAll } = await entrance.read(request, reply, readView, format.path === "");
          const base = entrance.baseOf(view);
          const document = sender.documentOf(view, `${base} ${format.path}`, format.type, () =>
            format.render(view, { base, serviceUrl: baseUrl }),
          );
          reply.headers(format.headers(view));
          return await sender.send(request, reply, document, view, isForAll);
        },
      });
    }
    addRoutes(
      server,
      prefix,
      { ...BADGE, query: BADGE_QUERY },
      {
        renderError: renderBadgeError,
        async handler(request, reply) {
          const { label = null, monitor = null, metric = "status" } = readQuery(BADGE_QUERY, request);
          const { found: view, isForAll } = await entrance.read(request, reply, readView);
          const draw = (): string => {
            const badge = renderBadge(view, { label, monitorId: monitor, isUptime: metric === "uptime" });
            if (badge === null) throw new Refusal("not_found", "The page has no monitor with this id.");
            return badge;
          };
          // Badges with a label are not kept: clients choose the label.
          const document =
            label === null
              ? sender.documentOf(view, `badge ${monitor} ${metric}`, SVG_TYPE, draw)
              : createDocument(draw(), { type: SVG_TYPE, cacheControl: PUBLIC_CACHE });
          reply.headers(READABLE);
          return await sender.send(request, reply, document, view, isForAll);
        },
      },
    );
  }
}

/** Registers the scripts of pages, at the service and at the pages' own domains. */
function registerPageScripts(server: FastifyInstance): void {
  for (const { path, text } of PAGE_SCRIPTS) {
    const document = createDocument(text, { type: "text/javascript; charset=utf-8", cacheControl: HASHED_CACHE });
    server.route({
      method: ["GET", "HEAD"],
      url: path,
      schema: { hide: true },
      config: { isOfPage: true },
      handler: (request, reply) => sendDocument(request, reply, document),
    });
  }
}

/** The address of a logo has the hash of its content. */
const LOGO = { path: "/logo/:file", type: "image/*", operation: null } as const;

/** Registers the logos of pages, at /status/<slug>/logo/ and at the pages' own domains, for those who see the page. */
function registerLogos(server: FastifyInstance, deps: EntranceDeps): void {
  for (const entrance of createEntrances(deps)) {
    addRoutes(server, entrance.prefix, LOGO, {
      async handler(request, reply) {
        const { file } = request.params as { readonly file: string };
        const readLogo = (slug: string, viewer: number | null) => deps.pages.logo(slug, viewer, `/logo/${file}`);
        const { found: logo, isForAll } = await entrance.read(request, reply, readLogo, true);
        const sent = new SentFile(logo.type, Buffer.from(logo.content), logo.hash);
        return sendFile(request, reply, sent, isForAll ? HASHED_CACHE : OWN_CACHE);
      },
    });
  }
}

const TYPE = "text/html; charset=utf-8";
/** Ids are positive integers of at most 15 digits. */
const ID = /^[1-9]\d{0,14}$/;

const INCIDENT = {
  path: "/incidents/:id",
  type: TYPE,
  operation: { id: "show_status_page_incident", summary: "Show an incident of a status page" },
} as const;

const HISTORY = {
  path: "/history",
  type: TYPE,
  operation: { id: "show_status_page_history", summary: "Show the incidents and the maintenance of a month" },
  query: Type.Object({
    month: Type.Optional(
      Type.String({ maxLength: 7, examples: ["2026-10"], description: "UTC month; by default the running one" }),
    ),
  }),
} as const;

/** Registers the page of an incident, and the archive, at /status/<slug> and at the root of the pages' own domains. */
function registerPastPages(server: FastifyInstance, { clock, ...deps }: EntranceDeps & Pick<App, "clock">): void {
  const { pages } = deps;
  const sender = createPublicSender(clock);
  const renderError = errorRendererOf(pages);
  for (const entrance of createEntrances(deps)) {
    addRoutes(server, entrance.prefix, INCIDENT, {
      renderError,
      async handler(request, reply) {
        const id = idOf(request);
        const readIncident = async (slug: string, viewer: number | null) =>
          id === null ? null : pages.incident(slug, viewer, id);
        const { found, isForAll } = await entrance.read(request, reply, readIncident, true);
        const base = entrance.baseOf(found.view);
        reply.header("content-security-policy", policyOf({ ...found.view, canSubscribe: false, responses: null }));
        const document = sender.documentOf(found.incident, base, TYPE, () => String(renderIncidentPage(found, base)));
        return await sender.send(request, reply, document, found, isForAll);
      },
    });
    addRoutes(server, entrance.prefix, HISTORY, {
      renderError,
      async handler(request, reply) {
        const { month = null } = readQuery(HISTORY.query, request);
        const readArchive = (slug: string, viewer: number | null) => pages.archive(slug, viewer, month);
        const { found, isForAll } = await entrance.read(request, reply, readArchive, true);
        const base = entrance.baseOf(found.view);
        reply.header("content-security-policy", policyOf({ ...found.view, canSubscribe: false, responses: null }));
        const document = sender.documentOf(found.archive, base, TYPE, () => String(renderArchivePage(found, base)));
        return await sender.send(request, reply, document, found, isForAll);
      },
    });
  }
}

function idOf(request: FastifyRequest): number | null {
  const { id } = request.params as { readonly id: string };
  return ID.test(id) ? Number(id) : null;
}

/** What is sent of a page, as it was at a time. */
interface Dated {
  readonly generatedAt: Date;
}

/** Sends what pages show. */
interface PublicSender {
  /** Returns a body of what is shown, rendered once: what is dropped takes its bodies with it. */
  documentOf(shown: object, key: string, type: string, render: () => string): Document;
  /** Sends a body with the age of its view. `isForAll`: whether everybody may see it, so that caches may keep it. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    document: Document,
    view: Dated,
    isForAll: boolean,
  ): Promise<FastifyReply>;
}

/** Creates the sender of one server. */
function createPublicSender(clock: Clock): PublicSender {
  const documents = new WeakMap<object, Map<string, Document>>();
  return {
    documentOf(shown, key, type, render) {
      const known = documents.get(shown) ?? new Map<string, Document>();
      documents.set(shown, known);
      const document = known.get(key) ?? createDocument(render(), { type, cacheControl: PUBLIC_CACHE });
      known.set(key, document);
      return document;
    },
    async send(request, reply, document, view, isForAll) {
      if (isForAll) reply.headers(ageOf(view, clock.now()));
      return await sendDocument(request, reply, isForAll ? document : { ...document, cacheControl: OWN_CACHE });
    },
  };
}
