import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { TOOL_METHODS } from "#control-plane/surfaces/catalogue/document.ts";
import { callParamNames, CALL_PARAMS } from "#control-plane/checks/tool-requests/call-params.ts";
import { Type } from "typebox";
import { publishParams } from "#shared/schema/publish.ts";
import { type ErrorCode, Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { Version } from "#control-plane/http/versions.ts";
import { callData, resultRef } from "#control-plane/surfaces/api-document/components.ts";
import { MOST_PROGRESS } from "#shared/protocol/wire.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { answer, callerOf, factsOf } from "#control-plane/http/request.ts";
import { answerError } from "#control-plane/http/error-handler.ts";
import { shareAnswer } from "#control-plane/checks/measurements/share-answer.ts";
import { openEventStream, replyWithStream, wantsEvents } from "#control-plane/http/event-stream.ts";
import { refuseUnanswered, type AnsweredCheck } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { readToolRequest } from "#control-plane/checks/tool-requests/read-request.ts";

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

/** Creates the handler of a tool's route, for every API version. */
function toolHandler(app: CheckContext, contract: Contract, measurements: Measurements) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    const { share, ...call } = readToolRequest(request, contract);
    const { accountId, plan } = callerOf(request);
    const check: CheckRequest = { ...call, contract, accountId, maxLocations: plan.locations };
    const finish = async (ended: CheckAnswer): Promise<object> => {
      const { durationMs } = factsOf(request);
      const shareId = share
        ? await shareAnswer(measurements, { ...call, contract, accountId }, ended, durationMs)
        : null;
      return envelopeOf(request, contract, refuseUnanswered(ended, shareId), shareId);
    };
    if (request.apiVersion === "v4" && wantsEvents(request) && !call.dryRun) {
      return streamCheck(app, check, finish, request, reply);
    }
    const gone = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableEnded) gone.abort();
    });
    return finish(await runCheck(app, { ...check, signal: gone.signal }));
  };
}

/** Returns the envelope of an answered check. */
function envelopeOf(
  request: FastifyRequest,
  contract: Contract,
  answered: AnsweredCheck,
  shareId: string | null,
): object {
  const shared = shareId === null ? {} : { share_id: shareId };
  switch (answered.kind) {
    case "single": {
      const data = answered.outcome.status === "ok" ? answered.outcome.data : null;
      const cached = contract.cacheMs === undefined ? {} : { cached: answered.cached };
      return answer(request, data, { ...cached, location: answered.location, ...shared });
    }
    case "multi":
      return answer(request, answered.data, shared);
    case "dry_run":
      return answer(request, { locations: answered.locations });
  }
}

function slowReader(): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message:
      `More than ${MOST_PROGRESS.events} progress events or ${MOST_PROGRESS.characters / 1_000_000} MB were unread. ` +
      "The stream is closed and the check is cancelled. Read faster, use fewer locations, or create a measurement and " +
      "read its events later.",
    reason: "slow_reader",
  });
}

/**
 * Streams the events of a call. A refusal before dispatch is an ordinary error answer; from the
 * first event on the status is 200, and `done` contains the envelope or the error.
 */
async function streamCheck(
  app: CheckContext,
  check: CheckRequest,
  finish: (ended: CheckAnswer) => Promise<object>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const stream = openEventStream(() => answerError(request, slowReader()));
  const begun = Promise.withResolvers<null>();
  const running = runCheck(app, {
    ...check,
    signal: stream.dropped,
    onEvent: ({ event, data }) => {
      begun.resolve(null);
      stream.send(event, data);
    },
  });
  const early = await Promise.race([running, begun.promise]).catch((error: unknown) => {
    stream.body.destroy(); // the database is away: no client reads it
    throw error;
  });
  if (early !== null && early.kind !== "single" && early.kind !== "multi") {
    stream.body.destroy();
    refuseUnanswered(early);
  }
  void running
    .then(finish)
    .then((envelope) => stream.send("done", envelope))
    .catch((error: unknown) => {
      stream.send("done", answerError(request, error instanceof Refusal ? error : new Refusal("internal_error", "")));
    })
    .finally(() => stream.end());
  return replyWithStream(reply, stream);
}
