import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { readIncidentQuery, toReading } from "#control-plane/surfaces/dashboard/incidents/list-query.ts";
import { renderIncidentList, titleOf } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { registerOpening } from "#control-plane/surfaces/dashboard/incidents/opening.ts";
import {
  namedMonitors,
  REFRESH_SECONDS,
  showIncident,
  type IncidentViewsDeps,
  type WithId,
} from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { registerIncidentWrites } from "#control-plane/surfaces/dashboard/incidents/write-routes.ts";
import { readOpenFirst } from "#control-plane/outages/incidents/incidents.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";

/** Registers /app/incidents, the page of each incident, what can be done there, and the form of another one. */
export function registerIncidentViews(scope: FastifyInstance, deps: IncidentViewsDeps): void {
  const { door, sql, clock } = deps;
  scope.route({
    ...door.page({ needs: "read" }),
    url: "/app/incidents",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const query = readIncidentQuery(request.query as Readonly<Record<string, unknown>>);
      const { filter, rows } = toReading(query);
      const [reading, monitors] = await Promise.all([
        readOpenFirst(sql, session.accountId, filter, rows, clock.now()),
        namedMonitors(deps, session.accountId, query.monitorId === null ? [] : [query.monitorId]),
      ]);
      const body = renderIncidentList({
        ...reading,
        query,
        monitors: monitors.choices,
        isKept: monitors.isKept,
        viewer: viewerTimeOf(session),
        canWrite: isAllowed(session.role, "write"),
      });
      const title = titleOf(reading);
      return sendPage(request, reply, { title, session, section: "incidents", body, liveSeconds: REFRESH_SECONDS });
    },
  });
  scope.route<WithId>({
    ...door.page({ needs: "read" }),
    url: "/app/incidents/:id",
    schema: { hide: true },
    handler: (request, reply) => showIncident(request, reply, deps, null),
  });
  registerOpening(scope, deps);
  registerIncidentWrites(scope, deps);
}
