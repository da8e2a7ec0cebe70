import type { FastifyInstance } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { Measurements } from "#control-plane/measurements/measurements.ts";
import { TOOL_METHODS } from "#control-plane/surfaces/catalogue/document.ts";
import { toolOperation } from "#control-plane/surfaces/rest/operation.ts";
import { callParamNames } from "#control-plane/tool-requests/call-params.ts";
import { toolHandler } from "#control-plane/surfaces/rest/call-handler.ts";

/** The tools that exist in v3, v2 and v1. */
const FROZEN_TOOLS = new Set(["check", "dns", "ssl", "ip", "ping", "health"]);

/** Registers the routes of every tool in every version that has it. */
export function registerTools(
  server: FastifyInstance,
  app: CheckContext,
  gate: Gate,
  contracts: readonly Contract[],
  measurements: Measurements,
): void {
  for (const contract of contracts) {
    const handler = toolHandler(app, contract, measurements);
    const queryNames = callParamNames(contract);
    const versions = FROZEN_TOOLS.has(contract.name) ? (["v4", "v3", "v2", "v1"] as const) : (["v4"] as const);
    for (const version of versions) {
      const keyed = gate.keyed({ scope: contract.scope, key: version === "v4" ? "headers" : "anywhere" });
      for (const method of TOOL_METHODS) {
        server.route({
          ...keyed,
          method,
          url: `/api/${version}/${contract.name}`,
          // POST accepts parameters in the query and in the body.
          config: { queryNames },
          // Deprecated versions are not documented.
          schema: { ...toolOperation(contract, version, method), hide: version === "v2" || version === "v1" },
          handler,
        });
      }
    }
  }
}
