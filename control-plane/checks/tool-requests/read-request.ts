import type { FastifyRequest } from "fastify";
import { MOST_LOCATIONS, parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import { parseParams } from "#shared/schema/schema.ts";
import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { rawParams } from "#control-plane/http/body.ts";
import { refuseField, requireRead } from "#control-plane/http/errors.ts";
import { warningsFor } from "#control-plane/http/warnings.ts";
import { callParamNames, SWITCHES } from "#control-plane/checks/tool-requests/call-params.ts";

/** A tool call parsed from a request. */
interface ToolRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly locations: readonly LocationItem[] | null;
  readonly dryRun: boolean;
  /** Whether to store the answer and return the id of its public page. */
  readonly share: boolean;
}

/**
 * Parses the query and body of a request as the contract's parameters. Notes unknown fields of the body on the request
 * as warnings. Throws a Refusal that names the first wrong field.
 */
export function readToolRequest(request: FastifyRequest, contract: Contract): ToolRequest {
  const { values, from } = rawParams(request);
  request.ignored = warningsFor(values, callParamNames(contract), { besides: request.query as object });
  if (request.apiVersion === "v4") return readToolCall(contract, values, from);
  const params = requireRead(parseToolParams(contract, values, { from, unknown: "ignore" }));
  // v3 and earlier versions are frozen: they have none of the parameters of every call.
  return { params, locations: null, dryRun: false, share: false };
}

/** Parses the values of a call, wherever they were given. Throws a Refusal that names the first wrong field. */
export function readToolCall(
  contract: Contract,
  values: Readonly<Record<string, unknown>>,
  from: "text" | "json",
): ToolRequest {
  const params = requireRead(parseToolParams(contract, values, { from, unknown: "ignore" }));
  const switches = requireRead(parseParams(SWITCHES, values, { from, unknown: "ignore" }));
  const { dry_run: dryRun = false, share = false } = switches;
  return { params, locations: readLocations(values["locations"], from), dryRun, share };
}

/** Parses the `locations` of a call; null if absent. Throws Refusal. */
export function readLocations(raw: unknown, from: "text" | "json"): readonly LocationItem[] | null {
  if (raw === undefined) return null;
  const field = "locations";
  if (Array.isArray(raw) && from === "text") {
    throw refuseField({ field, reason: "duplicate", message: "was given twice; join the items with commas" });
  }
  // The items of a list that is too long are not looked at.
  const isList = Array.isArray(raw) && (raw.length > MOST_LOCATIONS || raw.every((item) => typeof item === "string"));
  if (typeof raw !== "string" && !isList) {
    throw refuseField({ field, reason: "type", message: "must be a comma-separated string or an array of strings" });
  }
  const parsed = parseLocations(raw);
  if (parsed.ok) return parsed.items;
  throw refuseField({ field, reason: "unknown_location", message: parsed.message });
}
