import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import { readQuery } from "#control-plane/http/params.ts";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderArchivePage, renderIncidentPage } from "#control-plane/public/status-pages/render/html/past-pages.ts";
import { createEntrances, type EntranceDeps } from "#control-plane/public/status-pages/routes/public-entrances.ts";
import { addRoutes, errorRendererOf } from "#control-plane/public/status-pages/routes/public-route.ts";
import { createPublicSender } from "#control-plane/public/status-pages/routes/public-sender.ts";

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
export function registerPastPages(
  server: FastifyInstance,
  { clock, ...deps }: EntranceDeps & { readonly clock: Clock },
): void {
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
        const document = sender.documentOf(found.incident, base, TYPE, () => renderIncidentPage(found, base));
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
        const document = sender.documentOf(found.archive, base, TYPE, () => renderArchivePage(found, base));
        return await sender.send(request, reply, document, found, isForAll);
      },
    });
  }
}

function idOf(request: FastifyRequest): number | null {
  const { id } = request.params as { readonly id: string };
  return ID.test(id) ? Number(id) : null;
}
