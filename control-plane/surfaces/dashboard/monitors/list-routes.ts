import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { renderList, titleOf } from "#control-plane/surfaces/dashboard/monitors/list.ts";
import { readKeptRows, readListQuery } from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import { renderStrips } from "#control-plane/surfaces/dashboard/monitors/strips.ts";
import { selectRows } from "#control-plane/surfaces/dashboard/monitors/select-rows.ts";
import { createYielder } from "#control-plane/core/yielder.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Seconds between two refreshes of an open list. */
const REFRESH_SECONDS = 10;
/** Registers GET /app/monitors. */
export function registerList(scope: FastifyInstance, { guard, clock, overviews }: Dashboard): void {
  scope.route({
    ...guard.page({ needs: "read" }),
    url: "/app/monitors",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const query = readListQuery(request.query as Readonly<Record<string, unknown>>);
      const isRefresh = request.headers["x-view"] === "live";
      const kept = readKeptRows(request.headers["x-rows"]);
      const selection = selectRows(await overviews.of(session.accountId, { isRefresh }), query, kept);
      const viewer = viewerTimeOf(session);
      const shown = selection.rows.map(({ id }) => id);
      const strips = await overviews.stripsOf(session.accountId, shown);
      const bars = await renderStrips(strips, viewer, createYielder(clock));
      const body = renderList({
        query,
        selection,
        stripOf: (id) => bars.get(id),
        now: clock.now(),
        viewer,
        canWrite: isAllowed(session.role, "write"),
        formToken: session.formToken,
      });
      const title = titleOf(selection);
      return sendPage(request, reply, { title, session, section: "monitors", body, liveSeconds: REFRESH_SECONDS });
    },
  });
}
