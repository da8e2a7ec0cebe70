import { Type } from "typebox";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { ErrorCode } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { Version } from "#control-plane/http/versions.ts";
import { callData, resultRef } from "#control-plane/surfaces/api-document/components.ts";
import { CALL_PARAMS } from "#control-plane/tool-requests/call-params.ts";

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
export function toolOperation(contract: Contract, version: Version, method: "GET" | "POST") {
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
