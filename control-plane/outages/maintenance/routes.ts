import { Type } from "typebox";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { absentMessage, Refusal, requireFound } from "#control-plane/http/errors.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, pageOf, readId, readQuery, readWrite } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { announceWindow } from "#control-plane/outages/maintenance/announcement.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { CHANGE, CREATE, READ, READ_ONLY, SHOWN } from "#control-plane/outages/maintenance/schemas.ts";
import { changeOf, showWindow } from "#control-plane/outages/maintenance/serialize.ts";

const URL = "/api/v4/maintenance";
const TAG = "Maintenance";
const NOUN = "maintenance window";

/** Dependencies of the routes. */
interface MaintenanceRoutesDeps {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly maintenance: Maintenance;
  readonly events: Events;
  readonly clock: Clock;
}

/** Registers POST, GET, PUT and DELETE /api/v4/maintenance. */
export function registerMaintenance(server: FastifyInstance, deps: MaintenanceRoutesDeps): void {
  registerCreation(server, deps);
  registerReading(server, deps);
  registerChange(server, deps);
  registerDeletion(server, deps);
}

function registerCreation(server: FastifyInstance, deps: MaintenanceRoutesDeps): void {
  const { gate, writes, maintenance, events, clock } = deps;
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "POST",
    url: URL,
    schema: operation({
      id: "create_maintenance",
      tag: TAG,
      summary: "Create a maintenance window: a time, once or repeated, in which monitors are expected to fail",
      description:
        "While a window covers a monitor, its notices are held, and the time does not count for its uptime. A window " +
        "covers nothing before its creation.",
      status: 201,
      data: SHOWN,
      body: CREATE,
      errors: ["missing_parameter", "plan_limit_exceeded"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const given = readWrite(CREATE, request, [...READ_ONLY, "status"]);
      return writes.run(request, reply, async (tx) => {
        const { window, isNews } = requireWritten(await maintenance.create(tx, accountId, given));
        if (isNews) await announceWindow(tx, events, { accountId, window, at: clock.now() });
        return { status: 201, data: showWindow(window), changes: [changeOf(window, null)] };
      });
    },
  });
}

function registerReading(server: FastifyInstance, { gate, maintenance }: MaintenanceRoutesDeps): void {
  server.route({
    ...gate.keyed({ scope: "monitors:read" }),
    method: "GET",
    url: URL,
    schema: operation({
      id: "read_maintenance",
      tag: TAG,
      summary: "List your maintenance windows, newest first, or get one by id",
      data: Type.Union([Type.Array(SHOWN), SHOWN]),
      query: READ,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { accountId } = callerOf(request);
      const { id, status, monitor_id: monitorId, ...fields } = readQuery(READ, request);
      if (id !== undefined)
        return answer(request, showWindow(requireFound(await maintenance.find(accountId, id), NOUN)));
      const page = pageOf(fields);
      const { windows, total } = await maintenance.list(accountId, { status, monitorId }, page);
      return answer(request, windows.map(showWindow), { pagination: page.pagination(total) });
    },
  });
}

function registerChange(server: FastifyInstance, deps: MaintenanceRoutesDeps): void {
  const { gate, writes, maintenance, events, clock } = deps;
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "PUT",
    url: URL,
    schema: operation({
      id: "update_maintenance",
      tag: TAG,
      summary: "Change or cancel a maintenance window",
      description:
        "Fields that are absent keep their values. A change applies from now on: a window in progress is moved, " +
        "extended or ended, and the time that it has covered still does not count for uptime.",
      data: SHOWN,
      query: IdQuery,
      body: CHANGE,
      errors: ["missing_parameter", "plan_limit_exceeded", "not_found"],
      isWrite: true,
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      const id = readId(request);
      const given = readWrite(CHANGE, request, READ_ONLY);
      return writes.run(request, reply, async (tx) => {
        const { window, isNews, before } = requireWritten(await maintenance.change(tx, accountId, id, given));
        if (isNews) await announceWindow(tx, events, { accountId, window, at: clock.now() });
        return { data: showWindow(window), changes: [changeOf(window, before)] };
      });
    },
  });
}

function registerDeletion(server: FastifyInstance, { gate, writes, maintenance }: MaintenanceRoutesDeps): void {
  server.route({
    ...gate.keyed({ scope: "monitors" }),
    method: "DELETE",
    url: URL,
    schema: operation({
      id: "delete_maintenance",
      tag: TAG,
      summary: "Delete a maintenance window; one in progress ends",
      description: "The time that it has covered still does not count for uptime.",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
      isWrite: true,
    }),
    handler: (request: FastifyRequest, reply) => {
      const { accountId } = callerOf(request);
      const id = readId(request);
      return writes.run(request, reply, async (tx) => {
        const name = await maintenance.remove(tx, accountId, id);
        if (name === null) throw new Refusal("not_found", absentMessage(NOUN));
        return { data: { id, deleted: true }, changes: [{ resource: "maintenance", id, name, action: "deleted" }] };
      });
    },
  });
}
