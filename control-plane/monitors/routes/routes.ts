import type { FastifyInstance, FastifyRequest } from "fastify";
import { registerCurrent, type MonitorRoutesDeps } from "#control-plane/monitors/routes/current.ts";
import { MONITOR, OLD_MONITOR, OLD_MONITOR_WITH_CHECKS } from "#control-plane/monitors/routes/schemas.ts";
import { Type } from "typebox";
import { readBody } from "#control-plane/http/body.ts";
import { Refusal, requireFound, requireRead } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { DELETED, IdQuery, pageOf, readId, readQuery } from "#control-plane/http/params.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import { OLD_READ } from "#control-plane/monitors/routes/queries.ts";
import { OLD_CHANGE, OLD_CREATE } from "#control-plane/monitors/settings/fields.ts";
import { parseChange, parseCreation } from "#control-plane/monitors/settings/parse.ts";
import { showOldCheck, showOldMonitor } from "#control-plane/monitors/serialize.ts";

/** Registers the operations on monitors in every API version. */
export function registerMonitors(server: FastifyInstance, deps: MonitorRoutesDeps): void {
  server.addSchema(MONITOR);
  registerCurrent(server, deps);
  for (const version of ["v3", "v2", "v1"] as const) registerOld(server, deps, version);
}

const TAG = "Monitors, version 3";

/** Registers the same operations for an older version, with its fewer fields. Only v3 is documented. */
function registerOld(
  server: FastifyInstance,
  deps: Omit<MonitorRoutesDeps, "clock" | "history" | "pictures" | "testMails" | "sql">,
  version: "v3" | "v2" | "v1",
): void {
  const { gate, writes, monitors } = deps;
  const keyed = gate.keyed({ scope: "monitors", key: "anywhere" });
  const place = { ...keyed, url: `/api/${version}/monitors` };
  const describe = (described: Omit<Parameters<typeof operation>[0], "tag">) => ({
    ...operation({ ...described, id: `${version}_${described.id}`, tag: TAG }),
    hide: version !== "v3",
  });

  server.route({
    ...place,
    ...gate.keyed({ scope: "monitors:read", key: "anywhere" }),
    method: "GET",
    schema: describe({
      id: "read_monitors",
      summary: "List your monitors, newest first, or get one by id with its newest checks",
      data: Type.Union([Type.Array(OLD_MONITOR), OLD_MONITOR_WITH_CHECKS]),
      query: OLD_READ,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: async (request) => {
      const { accountId } = callerOf(request);
      refuseAction(request);
      const { id, status, ...fields } = readQuery(OLD_READ, request);
      if (id !== undefined) {
        const found = requireFound(await monitors.find(accountId, id), "monitor");
        return answer(request, { ...showOldMonitor(found.monitor), checks: found.checks.map(showOldCheck) });
      }
      const page = pageOf(fields);
      const { rows, total } = await monitors.list(accountId, { status }, page);
      return answer(request, rows.map(showOldMonitor), { pagination: page.pagination(total) });
    },
  });
  server.route({
    ...place,
    method: "POST",
    schema: describe({
      id: "create_monitor",
      summary: "Create a monitor",
      status: 201,
      data: OLD_MONITOR,
      body: OLD_CREATE,
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "probe_unavailable"],
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      refuseAction(request);
      const given = requireRead(parseCreation(readBody(request), "old"));
      return writes.run(request, reply, async (tx) => {
        const created = requireWritten(await monitors.create(tx, accountId, given));
        return { status: 201, data: showOldMonitor(created), changes: [changeOf(created, "created")] };
      });
    },
  });
  server.route({
    ...place,
    method: "PUT",
    schema: describe({
      id: "update_monitor",
      summary: "Change a monitor: any of its fields",
      data: OLD_MONITOR,
      query: IdQuery,
      body: OLD_CHANGE,
      errors: ["missing_parameter", "target_not_allowed", "plan_limit_exceeded", "not_found"],
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      refuseAction(request);
      const id = readId(request);
      const given = requireRead(parseChange(readBody(request), "old"));
      return writes.run(request, reply, async (tx) => {
        const { monitor, changed } = requireWritten(await monitors.change(tx, { accountId, id }, given, new Map()));
        return { data: showOldMonitor(monitor), changes: [changeOf(monitor, "changed", changed)] };
      });
    },
  });
  server.route({
    ...place,
    method: "DELETE",
    schema: describe({
      id: "delete_monitor",
      summary: "Delete a monitor with its history",
      data: DELETED,
      query: IdQuery,
      errors: ["missing_parameter", "not_found"],
    }),
    handler: (request, reply) => {
      const { accountId } = callerOf(request);
      refuseAction(request);
      const id = readId(request);
      return writes.run(request, reply, async (tx) => {
        const { name } = requireWritten(await monitors.remove(tx, { accountId, id }));
        return { data: { id, deleted: true }, changes: [changeOf({ id, name }, "deleted")] };
      });
    },
  });
}

/** Actions are a feature of v4: without this, a run would create a monitor. */
function refuseAction(request: FastifyRequest): void {
  if ((request.query as Record<string, unknown>)["action"] === undefined) return;
  throw new Refusal("not_found", "Actions on monitors exist only in version 4: /api/v4/monitors.");
}
