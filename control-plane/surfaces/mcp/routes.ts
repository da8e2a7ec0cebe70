import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type, type TProperties } from "typebox";
import { findOversize } from "#shared/schema/oversize.ts";
import { fieldMessage } from "#shared/schema/problem.ts";
import { TOOLSETS, type Toolset } from "#shared/tools/define.ts";
import { chooseCoding } from "#control-plane/http/accept-encoding.ts";
import { RawBody } from "#control-plane/http/body.ts";
import { errorFields } from "#control-plane/http/envelope.ts";
import { createOriginCheck, type OriginSettings } from "#control-plane/http/connection/own-origin.ts";
import { STATUS_OF_CODE, type ErrorCode } from "#control-plane/http/errors.ts";
import { keyInHeaders, type Gate } from "#control-plane/http/gate.ts";
import { plainOperation, SECURITY } from "#control-plane/http/operations/operation.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import type { McpProtocol } from "#control-plane/surfaces/mcp/protocol.ts";
import { nearestName } from "#shared/text/nearest-name.ts";

/** The toolsets that a request selects, or why its `toolset` is invalid. */
type AskedToolsets =
  | { readonly ok: true; readonly toolsets: ReadonlySet<Toolset> }
  | { readonly ok: false; readonly message: string };

const EVERY_TOOLSET: AskedToolsets = { ok: true, toolsets: new Set(TOOLSETS) };
const LONGEST_NAME = 50;

/** Parses the `toolset` query parameter: a comma list, case-insensitive; default: all toolsets. */
export function readToolsets(raw: unknown): AskedToolsets {
  if (raw === undefined) return EVERY_TOOLSET;
  if (typeof raw !== "string") return refuse("toolset was given twice; join the names with commas.");
  const asked = new Set<Toolset>();
  for (const part of raw.split(",", TOOLSETS.length * 2)) {
    const name = part.trim().toLowerCase();
    const toolset = TOOLSETS.find((one) => one === name);
    if (toolset === undefined) return refuse(describeUnknown(name));
    asked.add(toolset);
  }
  return { ok: true, toolsets: asked };
}

function describeUnknown(name: string): string {
  const nearest = nearestName(name, TOOLSETS);
  const hint = nearest === null ? "" : ` Did you mean ${nearest}?`;
  return `No toolset has the name ${JSON.stringify(name.slice(0, LONGEST_NAME))}.${hint} Toolsets: ${TOOLSETS.join(", ")}.`;
}

function refuse(message: string): AskedToolsets {
  return { ok: false, message };
}

/** Error codes of JSON-RPC 2.0, section 5.1; the server error range is for refusals of the gate. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const LIMITED = -32_005;
const NOT_ADMITTED = -32_001;

/** Header fields that are passed to the protocol; others are not. */
const READ_FIELDS = /^(mcp-[a-z-]+|last-event-id)$/;

const Bounded = <P extends TProperties>(properties: P) => Type.Object(properties, { maxProperties: 100 });
/** Bounds of a message, whose objects the library copies member by member. No tool has as many arguments. */
const MESSAGE = Bounded({ params: Bounded({ arguments: Bounded({}), _meta: Bounded({}) }) });

const QUERY = Type.Object({
  toolset: Type.Optional(
    Type.String({
      examples: ["web,dns"],
      description: `Toolsets to serve, comma separated: ${TOOLSETS.join(", ")}. Default: all tools`,
    }),
  ),
});

/**
 * Registers POST /mcp: the tools over the Model Context Protocol (streamable HTTP without sessions). In a browser only
 * pages of the service can call it (`config`), against DNS rebinding.
 */
export function registerMcp(
  server: FastifyInstance,
  { gate, protocol, config }: { readonly gate: Gate; readonly protocol: McpProtocol; readonly config: OriginSettings },
): void {
  const refuseOrigin = createOriginCheck(config);
  server.route({
    method: "POST",
    url: "/mcp",
    config: { renderError: renderRpcError },
    onRequest: async (request, reply) => {
      const refusal = request.headers.origin === undefined ? undefined : refuseOrigin(request);
      if (refusal !== undefined) throw refusal;
      // A caller without any key is refused before its body is read.
      if (keyInHeaders(request) === null) await gate.admit(request, reply, { scope: null });
    },
    schema: {
      ...plainOperation({
        id: "mcp",
        tag: "Agent endpoint",
        summary: "Call the tools over the Model Context Protocol (JSON-RPC 2.0)",
        description: "Methods: initialize, tools/list, tools/call. Send the key as X-API-Key or Authorization: Bearer.",
        query: QUERY,
        types: ["application/json"],
        errors: ["auth_required", "invalid_api_key", "service_unavailable"],
      }),
      security: SECURITY.key,
    },
    handler: (request, reply) => answer(request, reply, gate, protocol),
  });
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
  protocol: McpProtocol,
): Promise<FastifyReply> {
  const message = readMessage(request);
  const asked = readToolsets((request.query as Readonly<Record<string, unknown>>)["toolset"]);
  // Only tools/call counts against the day.
  const counts = asked.ok && message?.["method"] === "tools/call" ? "minute-and-day" : "minute";
  const principal = await gate.admit(request, reply, { scope: null, counts });
  if (message === undefined) return refuseMessage(reply, PARSE_ERROR, "The body is not a JSON object.");
  if (message === null) return refuseMessage(reply, INVALID_REQUEST, "Send one message at a time, not a batch.");
  const oversize = findOversize("message", MESSAGE, message);
  if (oversize !== null) return refuseMessage(reply, INVALID_PARAMS, fieldMessage(oversize), idOf(request));
  if (!asked.ok) return refuseMessage(reply, INVALID_PARAMS, asked.message, idOf(request));
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  const { status, body, coding } = await protocol.answer({
    body: message,
    headers: Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        READ_FIELDS.test(name) && typeof value === "string" ? [[name, value] as const] : [],
      ),
    ),
    url: `http://localhost${request.url}`,
    principal,
    toolsets: asked.toolsets,
    coding: chooseCoding(request.headers["accept-encoding"]),
    signal: gone.signal,
  });
  reply.code(status);
  if (body.length === 0) return reply.send();
  if (coding !== "identity") reply.headers({ "content-encoding": coding, vary: "accept-encoding" });
  return reply.type("application/json; charset=utf-8").send(body);
}

/** Parses the message of a body, with limited depth. undefined: invalid JSON; null: JSON, but not an object. */
function readMessage({ body }: FastifyRequest): Readonly<Record<string, unknown>> | null | undefined {
  if (!(body instanceof RawBody) || body.kind !== "json") return undefined;
  const parsed = body.json();
  if (parsed.ok) return parsed.value;
  return /^\s*\[/.test(body.bytes.toString("latin1", 0, 64)) ? null : undefined;
}

function refuseMessage(
  reply: FastifyReply,
  code: number,
  message: string,
  id: string | number | null = null,
): FastifyReply {
  return reply
    .code(400)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
}

const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  rate_limit_exceeded: LIMITED,
  daily_limit_exceeded: LIMITED,
  payload_too_large: INVALID_REQUEST,
  unsupported_media_type: INVALID_REQUEST,
  internal_error: INTERNAL_ERROR,
};

/** Renders a refusal as a JSON-RPC error, with the error of the API as its data. */
const renderRpcError: ErrorRenderer = ({ code, details }, request) => {
  const retryAfter = details.headers?.["retry-after"];
  const wait = retryAfter === undefined ? {} : { retry_after_seconds: Number(retryAfter) };
  return {
    jsonrpc: "2.0",
    id: idOf(request),
    error: {
      code: RPC_CODES[code] ?? NOT_ADMITTED,
      message: details.message,
      data: { ...errorFields(code, details), status: STATUS_OF_CODE[code], ...wait },
    },
  };
};

function idOf(request: FastifyRequest): string | number | null {
  const id = readMessage(request)?.["id"];
  return typeof id === "string" || typeof id === "number" ? id : null;
}
