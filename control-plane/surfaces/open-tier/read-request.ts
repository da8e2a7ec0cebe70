import type { FastifyRequest } from "fastify";
import { parseParams } from "#shared/schema.ts";
import { refuseField } from "#control-plane/http/errors.ts";
import { FORMATS, formatOf, type Format } from "#control-plane/surfaces/open-tier/formats.ts";
import type { OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";

/** A call of the open tier. */
export interface OpenRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly format: Format;
}

/** Reads q, the tool's extra parameters and format; everything else in the query is ignored. Throws Refusal. */
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
  const parsed = parseParams(contract.params, given, { from: "text", unknown: "ignore" });
  const problem = parsed.ok ? (contract.refine?.(parsed.value) ?? null) : parsed.problem;
  if (parsed.ok && problem === null) return { params: parsed.value, format };
  const { field, ...why } = problem ?? UNREADABLE;
  throw refuseField({ ...why, field: field === q ? "q" : field });
}

const UNREADABLE = { field: "q", reason: "type", message: "cannot be read" } as const;
