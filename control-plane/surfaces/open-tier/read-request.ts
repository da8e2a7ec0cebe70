import type { FastifyRequest } from "fastify";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { refuseField } from "#control-plane/http/errors.ts";
import { FORMATS, formatOf, type Format } from "#control-plane/surfaces/open-tier/formats.ts";
import type { OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";

/** A call of the open tier. */
interface OpenRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly format: Format;
}

/** Parses q, the tool's extra parameters and format; other query names are ignored. Throws Refusal. */
export function readOpenRequest(request: FastifyRequest, { contract, q, extra }: OpenTool): OpenRequest {
  const query = request.query as Readonly<Record<string, unknown>>;
  const format = formatOf(request);
  if (format === undefined) {
    throw refuseField({ field: "format", reason: "enum", message: `must be one of ${FORMATS.join(", ")}` });
  }
  const given = Object.fromEntries([
    ...(query["q"] === undefined ? [] : [[q, query["q"]] as const]),
    ...extra.filter((field) => query[field] !== undefined).map((field) => [field, query[field]] as const),
  ]);
  const parsed = parseToolParams(contract, given, { from: "text", unknown: "ignore" });
  if (parsed.ok) return { params: parsed.value, format };
  const { field, ...why } = parsed.problem;
  throw refuseField({ ...why, field: field === q ? "q" : field });
}
