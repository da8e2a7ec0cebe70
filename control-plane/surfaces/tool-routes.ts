import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { runCheck, type CheckContext, type CheckRequest } from "#control-plane/checks/run-check.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { answerError } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { openEventStream } from "#control-plane/surfaces/event-stream.ts";
import { refuseUnanswered, type AnsweredCheck } from "#control-plane/surfaces/refuse.ts";
import { readToolRequest } from "#control-plane/surfaces/tool-request.ts";

/** The handler of a tool's route, in every version that has the tool. */
export function toolHandler(app: CheckContext, contract: Contract) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    const call = readToolRequest(request, contract);
    const { accountId, plan } = callerOf(request);
    const check: CheckRequest = { ...call, contract, accountId, maxLocations: plan.locations };
    if (request.apiVersion === "v4" && wantsEvents(request) && !call.dryRun) {
      return streamCheck(app, check, request, reply);
    }
    const gone = new AbortController();
    reply.raw.once("close", () => {
      if (!reply.raw.writableEnded) gone.abort();
    });
    const answered = refuseUnanswered(await runCheck(app, { ...check, signal: gone.signal }));
    return envelopeOf(request, contract, answered);
  };
}

/** The envelope of an answered check. */
function envelopeOf(request: FastifyRequest, contract: Contract, answered: AnsweredCheck): object {
  switch (answered.kind) {
    case "single": {
      const data = answered.outcome.status === "ok" ? answered.outcome.data : null;
      const cached = contract.cacheMs === undefined ? {} : { cached: answered.cached };
      return answer(request, data, { ...cached, location: answered.location });
    }
    case "multi":
      return answer(request, answered.data);
    case "dry_run":
      return answer(request, { locations: answered.locations });
  }
}

/** RFC 9110 section 12.5.1 in so far as it matters here: the client names the type, not a wildcard. */
function wantsEvents(request: FastifyRequest): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(request.headers.accept ?? "");
}

/**
 * The same call, told as it happens. What is refused before any agent is asked is an ordinary error answer; from the
 * first event on the status is 200, and `done` holds the envelope or the error (decisions 6).
 */
async function streamCheck(
  app: CheckContext,
  check: CheckRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const stream = openEventStream();
  const begun = Promise.withResolvers<null>();
  const running = runCheck(app, {
    ...check,
    signal: stream.dropped,
    onEvent: ({ event, data }) => {
      begun.resolve(null);
      stream.send(event, data);
    },
  });
  const early = await Promise.race([running, begun.promise]);
  if (early !== null && early.kind !== "single" && early.kind !== "multi") {
    stream.body.destroy();
    refuseUnanswered(early);
  }
  void running
    .then((ended) => stream.send("done", envelopeOf(request, check.contract, refuseUnanswered(ended))))
    .catch((error: unknown) => {
      stream.send("done", answerError(request, error instanceof Refusal ? error : new Refusal("internal_error", "")));
    })
    .finally(() => stream.end());
  return reply.type("text/event-stream; charset=utf-8").header("cache-control", "no-store").send(stream.body);
}
