import { Type } from "typebox";
import type { FastifyInstance } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { IdField, PageFields, pageOf, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import {
  registerChange,
  registerCreation,
  registerRemoval,
  type WriteRoutes,
} from "#control-plane/http/resource-routes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { announceWindow } from "#control-plane/outages/maintenance/announcement.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { maintenanceWindow } from "#control-plane/outages/maintenance/resource.ts";
import { changeOf, showWindow } from "#control-plane/outages/maintenance/serialize.ts";
import { STATUSES } from "#control-plane/outages/maintenance/window.ts";

/** Dependencies of the routes. */
interface MaintenanceRoutesDeps extends WriteRoutes {
  readonly maintenance: Maintenance;
  readonly events: Events;
  readonly clock: Clock;
}

/** Query of GET. */
const READ = Type.Object({
  id: Type.Optional(IdField),
  status: Type.Optional(Type.Enum(STATUSES, { description: "Only windows with this status" })),
  monitor_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [1],
      description: "Only windows that name this monitor in monitor_ids",
    }),
  ),
  ...PageFields,
});

/** Registers POST, GET, PUT and DELETE /api/v4/maintenance. */
export function registerMaintenance(server: FastifyInstance, deps: MaintenanceRoutesDeps): void {
  const { maintenance, events, clock } = deps;
  registerCreation(server, deps, maintenanceWindow, {
    summary: "Create a maintenance window: a time, once or repeated, in which monitors are expected to fail",
    description:
      "While a window covers a monitor, its notices are held, and the time does not count for its uptime. A window " +
      "covers nothing before its creation.",
    errors: ["missing_parameter", "plan_limit_exceeded"],
    async write(tx, accountId, given) {
      const { window, isNews } = requireWritten(await maintenance.create(tx, accountId, given));
      if (isNews) await announceWindow(tx, events, { accountId, window, at: clock.now() });
      return { status: 201, data: showWindow(window), changes: [changeOf(window, null)] };
    },
  });
  registerReading(server, deps);
  registerChange(server, deps, maintenanceWindow, {
    summary: "Change or cancel a maintenance window",
    description:
      "Fields that are absent keep their values. A change applies from now on: a window in progress is moved, " +
      "extended or ended, and the time that it has covered still does not count for uptime.",
    errors: ["missing_parameter", "plan_limit_exceeded", "not_found"],
    async write(tx, { accountId, id }, given) {
      const { window, isNews, before } = requireWritten(await maintenance.change(tx, accountId, id, given));
      if (isNews) await announceWindow(tx, events, { accountId, window, at: clock.now() });
      return { data: showWindow(window), changes: [changeOf(window, before)] };
    },
  });
  registerRemoval(server, deps, maintenanceWindow, {
    summary: "Delete a maintenance window; one in progress ends",
    description: "The time that it has covered still does not count for uptime.",
    async remove(tx, { accountId, id }) {
      const title = await maintenance.remove(tx, accountId, id);
      if (title === null) throw new Refusal("not_found", absentMessage(maintenanceWindow.noun));
      return title;
    },
  });
}

function registerReading(server: FastifyInstance, { gate, maintenance }: MaintenanceRoutesDeps): void {
  const { answer: shown, noun, path, tag } = maintenanceWindow;
  server.route({
    ...gate.keyed({ scope: "monitors:read" }),
    method: "GET",
    url: path,
    schema: operation({
      id: "read_maintenance",
      tag,
      summary: "List your maintenance windows, newest first, or get one by id",
      data: Type.Union([Type.Array(shown), shown]),
      query: READ,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { accountId } = callerOf(request);
      const { id, status, monitor_id: monitorId, ...fields } = readQuery(READ, request);
      if (id !== undefined)
        return answer(request, showWindow(requireFound(await maintenance.find(accountId, id), noun)));
      const page = pageOf(fields);
      const { windows, total } = await maintenance.list(accountId, { status, monitorId }, page);
      return answer(request, windows.map(showWindow), { pagination: page.pagination(total) });
    },
  });
}
