import type { FastifyInstance } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { TOOL_METHODS } from "#control-plane/surfaces/catalogue/document.ts";
import { callParamNames, CALL_PARAMS } from "#control-plane/checks/tool-requests/call-params.ts";
import { toolHandler } from "#control-plane/surfaces/rest/call-handler.ts";
import { Type } from "typebox";
import { publishParams } from "#shared/schema/publish.ts";
import type { ErrorCode } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { Version } from "#control-plane/http/versions.ts";
import { callData, resultRef } from "#control-plane/surfaces/api-document/components.ts";

/** Errors of tool calls in addition to those of every keyed route. */
const TOOL_ERRORS: readonly ErrorCode[] = [
  "missing_parameter",
  "target_not_allowed",
  "plan_limit_exceeded",
  "payload_too_large",
  "unsupported_media_type",
  "request_failed",
  "probe_unavailable",
];

/** Returns the schema of a tool's route: GET has the parameters in the query, POST in a JSON or form body. */
function toolOperation(contract: Contract, version: Version, method: "GET" | "POST") {
  const { properties } = contract.params;
  const fields = version === "v4" ? { ...properties, ...CALL_PARAMS.properties } : properties;
  const params = publishParams(Type.Object(fields), contract.example);
  const inBody = method === "POST";
  return {
    ...operation({
      id: `${version}_${contract.name.replaceAll("-", "_")}${inBody ? "_post" : ""}`,
      tag: version === "v4" ? "Tools" : "Tools, version 3",
      summary: contract.title,
      description: contract.summary,
      data: version === "v4" ? callData(contract) : Type.Ref(resultRef(contract)),
      ...(inBody ? { body: { ...params, examples: [contract.example] } } : { query: params }),
      errors: TOOL_ERRORS,
    }),
    ...(inBody ? { consumes: ["application/json", "application/x-www-form-urlencoded"] } : {}),
  };
}

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
