import { Type, type TSchema } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { plainOperation } from "#control-plane/http/operations/operation.ts";
import { CACHE_SECONDS, type CachedAnswer, type AnswerCache } from "#control-plane/surfaces/open-tier/answer-cache.ts";
import {
  describeAnswer,
  FORMATS,
  openErrors,
  renderAs,
  TYPES,
  type Format,
} from "#control-plane/surfaces/open-tier/formats.ts";
import { dataOf, type OpenChecks } from "#control-plane/surfaces/open-tier/open-checks.ts";
import { readOpenRequest } from "#control-plane/surfaces/open-tier/read-request.ts";
import { openTools, pathOf, type OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import { LRUCache } from "lru-cache";
import type { Counter } from "prom-client";
import type { AnonymousAllowance } from "#control-plane/http/limits/anonymous.ts";

/** A call by its exact text, with its answer. */
interface KnownCall {
  readonly kept: CachedAnswer;
  readonly format: Format;
  readonly body: string;
  /** Counts cache hits. */
  readonly hits: Pick<Counter.Internal, "inc">;
}

/** Calls of the last minute, by verbatim path and query. */
interface CallCache {
  find(url: string): KnownCall | undefined;
  keep(url: string, call: KnownCall): void;
}

const MOST_CALLS = 5_000;
const LONGEST_URL = 1_000;

/** Creates a cache of calls that lives as long as their answers, which `answers` holds. */
function createCallCache(answers: AnswerCache): CallCache {
  const known = new LRUCache<string, KnownCall>({ max: MOST_CALLS });
  return {
    find(url) {
      const call = known.get(url);
      if (call === undefined || answers.isFresh(call.kept)) return call;
      known.delete(url);
      return undefined;
    },
    keep(url, call) {
      if (url.length <= LONGEST_URL) known.set(url, call);
    },
  };
}

/** Registers the tools without key. `baseUrl`, without a slash at its end, is in the last line of a text answer. */
export function registerOpenTier(
  server: FastifyInstance,
  contracts: readonly Contract[],
  { open, baseUrl }: { readonly open: OpenChecks; readonly baseUrl: string },
): void {
  const tools = openTools(contracts);
  const { answers } = open;
  const calls = createCallCache(answers);
  const config = { renderError: openErrors(baseUrl) };
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const refusal = open.take(request, reply);
    if (refusal !== null) return done(refusal);
    // A call with a cached text needs no parsing.
    const call = calls.find(request.raw.url ?? "");
    if (call === undefined) return done();
    call.hits.inc();
    sendAnswer(reply, call, answers.age(call.kept));
  };

  for (const tool of tools) {
    server.route({
      method: "GET",
      url: `/api/open/${tool.name}`,
      config,
      onRequest,
      schema: openOperation(tool),
      async handler(request, reply) {
        const { params, format } = readOpenRequest(request, tool);
        const kept = await open.ask(tool, params);
        const body = bodyOf(kept, tool, params, format, baseUrl);
        calls.keep(request.raw.url ?? "", { kept, format, body, hits: open.hitsOf(tool) });
        return sendAnswer(reply, { format, body }, answers.age(kept));
      },
    });
  }
  const catalogue = createDocument(describeCatalogue(tools, baseUrl, open.allowance), {
    type: TYPES.text,
    cacheControl: `public, max-age=${CACHE_SECONDS}`,
  });
  server.route({
    method: "GET",
    url: "/api/open",
    config,
    onRequest,
    schema: plainOperation({
      id: "list_open_tools",
      tag: "Open tier",
      summary: "List the tools that need no key",
      types: ["text/plain"],
    }),
    handler: (request, reply) => sendDocument(request, describeAnswer(reply, "text"), catalogue),
  });
  for (const path of ["/api/open", ...tools.map(({ name }) => `/api/open/${name}`)]) {
    server.route({ method: "OPTIONS", url: path, schema: { hide: true }, handler: answerPreflight });
  }
}

/** Answers a CORS preflight request (Fetch), although a simple GET needs none. */
function answerPreflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return describeAnswer(reply, "text")
    .header("access-control-allow-methods", "GET")
    .header("access-control-max-age", "86400")
    .code(204)
    .send();
}

function bodyOf(
  kept: CachedAnswer,
  tool: OpenTool,
  params: Readonly<Record<string, unknown>>,
  format: Format,
  baseUrl: string,
): string {
  const wording = `${format} ${String(params[tool.q])}`;
  const known = kept.bodies.get(wording);
  if (known !== undefined) return known;
  const data = dataOf(kept, tool, params);
  const body = renderAs(format, data, `${baseUrl}${pathOf(tool.name, tool.q, tool.extra, params)}`);
  // A target has an unlimited number of spellings.
  if (kept.bodies.size < FORMATS.length) kept.bodies.set(wording, body);
  return body;
}

function sendAnswer(
  reply: FastifyReply,
  { format, body }: { readonly format: Format; readonly body: string },
  age: number,
): FastifyReply {
  return describeAnswer(reply, format)
    .header("cache-control", `public, max-age=${CACHE_SECONDS}`)
    .header("age", age)
    .send(body);
}

function openOperation({ contract, name, q, extra }: OpenTool) {
  const properties = publishParams(contract.params, contract.example).properties as Readonly<Record<string, TSchema>>;
  const { description = "Target", examples = [] } = (properties[q] ?? {}) as {
    readonly description?: string;
    readonly examples?: readonly unknown[];
  };
  return plainOperation({
    id: `open_${name.replaceAll("-", "_")}`,
    tag: "Open tier",
    summary: contract.title,
    description: `${contract.summary}. Needs no key; results are cached for ${CACHE_SECONDS} s.`,
    query: Type.Object({
      q: Type.String({ description, examples }),
      ...Object.fromEntries(extra.map((field) => [field, Type.Optional(properties[field] ?? Type.String())])),
      format: Type.Optional(
        Type.Unsafe<Format>({ type: "string", enum: FORMATS, default: "text", description: "Format of the response" }),
      ),
    }),
    types: ["text/plain", "application/json", "text/csv"],
    errors: ["missing_parameter", "target_not_allowed", "request_failed", "probe_unavailable"],
  });
}

/** Renders the list of tools without key for a terminal: summary and an example line for each. */
function describeCatalogue(
  tools: readonly OpenTool[],
  baseUrl: string,
  { requestsPerMinute, requestsPerDay }: AnonymousAllowance,
): string {
  const width = Math.max(...tools.map(({ name }) => name.length)) + 2;
  const indent = " ".repeat(width);
  const rows = tools.map(({ name, contract, extra, example }) => {
    const more = extra.length === 0 ? "" : `; also ${extra.join(", ")}`;
    return `${name.padEnd(width)}${contract.summary}${more}\n${indent}curl '${baseUrl}${example}'\n`;
  });
  return [
    "Vantage: diagnostics of public hosts, without a key\n",
    `GET ${baseUrl}/api/open/<tool>?q=<target>&format=<${FORMATS.join("|")}>   (format: ${FORMATS[0]} by default)\n`,
    ...rows,
    `Limits: ${requestsPerMinute} requests a minute and ${requestsPerDay} a day from one address; results are cached for ${CACHE_SECONDS} s.`,
    `With a key: GET ${baseUrl}/api/v4/tools, and ${baseUrl}/docs`,
    `# source: ${baseUrl}/api/open/\n`,
  ].join("\n");
}
