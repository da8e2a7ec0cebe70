import { Type, type TSchema } from "typebox";
import { Counter, type Registry } from "prom-client";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import { asSubmitted } from "#control-plane/checks/as-submitted.ts";
import { normaliseTarget } from "#control-plane/checks/cache.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { createDocument, sendDocument } from "#control-plane/http/operations/document.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { plainOperation } from "#control-plane/http/operations/operation.ts";
import { setRateHeaders } from "#control-plane/http/rate-headers.ts";
import type { AnonymousAllowance, AnonymousLimits } from "#control-plane/limits/anonymous.ts";
import type { LimitState } from "#control-plane/access/limit-state.ts";
import { dayEnd, minuteEnd, secondsUntil } from "#control-plane/access/windows.ts";
import { CACHE_SECONDS, createAnswerCache, type CachedAnswer } from "#control-plane/surfaces/open-tier/answer-cache.ts";
import { createCallCache } from "#control-plane/surfaces/open-tier/known-calls.ts";
import { describeCatalogue } from "#control-plane/surfaces/open-tier/tool-list.ts";
import {
  describeAnswer,
  FORMATS,
  openErrors,
  renderAs,
  TYPES,
  type Format,
} from "#control-plane/surfaces/open-tier/formats.ts";
import { readOpenRequest } from "#control-plane/surfaces/open-tier/read-request.ts";
import { openTools, pathOf, type OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import { refuseUnanswered } from "#control-plane/tool-requests/refuse-unanswered.ts";

/** Dependencies of the open tier. */
interface OpenTierDeps {
  readonly checks: CheckContext;
  readonly limits: AnonymousLimits;
  readonly allowance: AnonymousAllowance;
  readonly registry: Registry;
  /** Base URL in the last line of a text answer, without trailing slash. */
  readonly baseUrl: string;
}

/** Registers the tools without key; equal calls within a minute share one check. */
export function registerOpenTier(server: FastifyInstance, contracts: readonly Contract[], deps: OpenTierDeps): void {
  const { checks, limits, allowance, baseUrl } = deps;
  const tools = openTools(contracts);
  const answers = createAnswerCache(checks.clock);
  const calls = createCallCache(answers);
  const config = { renderError: openErrors(baseUrl) };
  const served = new Counter({
    name: "vantage_open_requests_total",
    help: "Answers of the open tier by tool and cache result (hit, miss)",
    labelNames: ["tool", "cache"],
    registers: [deps.registry],
  });
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const nowMs = checks.clock.now().getTime();
    const state = limits.take(request.clientAddress);
    setRateHeaders(reply, allowance, state, nowMs);
    if (state.denied !== null) return done(overLimit(state, nowMs));
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
        const key = keyOf(tool, params);
        const isHit = answers.peek(key) !== undefined;
        const kept = await answers.get(key, () =>
          runCheck(checks, {
            contract: tool.contract,
            params,
            accountId: null,
            locations: null,
            maxLocations: 1,
          }),
        );
        served.inc({ tool: tool.name, cache: isHit ? "hit" : "miss" });
        const body = bodyOf(kept, tool, params, format, baseUrl);
        const hits = served.labels({ tool: tool.name, cache: "hit" });
        calls.keep(request.raw.url ?? "", { kept, format, body, hits });
        return sendAnswer(reply, { format, body }, answers.age(kept));
      },
    });
  }
  const catalogue = createDocument(describeCatalogue(tools, baseUrl, allowance), {
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
  const answered = refuseUnanswered(withFieldQ(kept.answer, tool));
  if (answered.kind !== "single" || answered.outcome.status !== "ok") throw new Error("one location was asked");
  const wording = `${format} ${String(params[tool.q])}`;
  const known = kept.bodies.get(wording);
  if (known !== undefined) return known;
  const data = asSubmitted(tool.contract, params, answered.outcome.data);
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

/** Renames the field of a target problem to q. */
function withFieldQ(answer: CheckAnswer, { q }: OpenTool): CheckAnswer {
  if (answer.kind !== "problem" || answer.problem.field !== q) return answer;
  return { kind: "problem", problem: { ...answer.problem, field: "q" } };
}

/** Returns one key for all spellings of a call. */
function keyOf({ name, contract, q }: OpenTool, params: Readonly<Record<string, unknown>>): string {
  const same = { ...params, [q]: normaliseTarget(contract, params[q]) };
  return `${name} ${JSON.stringify(Object.entries(same).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
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

function overLimit(state: LimitState, nowMs: number): Refusal {
  const byDay = state.denied === "day";
  const wait = secondsUntil(byDay ? dayEnd(state.day) : minuteEnd(state.minute), nowMs);
  const limit = byDay ? `${state.dayLimit} requests a day` : `${state.minuteLimit} requests a minute`;
  return new Refusal(byDay ? "daily_limit_exceeded" : "rate_limit_exceeded", {
    message: `The open tier allows ${limit} from one address. Wait ${byDay ? "until 00:00 UTC" : `${wait} s`}, or use an API key.`,
    headers: { "retry-after": String(wait) },
  });
}
