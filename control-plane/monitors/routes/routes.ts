import type { FastifyInstance } from "fastify";
import { registerCurrent, type MonitorRoutesDeps } from "#control-plane/monitors/routes/current.ts";
import { registerOld } from "#control-plane/monitors/routes/old.ts";
import { MONITOR } from "#control-plane/monitors/routes/schemas.ts";

/** Registers the operations on monitors in every API version. */
export function registerMonitors(server: FastifyInstance, deps: MonitorRoutesDeps): void {
  server.addSchema(MONITOR);
  registerCurrent(server, deps);
  for (const version of ["v3", "v2", "v1"] as const) registerOld(server, deps, version);
}
