import type { FastifyReply, FastifyRequest } from "fastify";
import type { Contract } from "#shared/tools/define.ts";
import { MOST_PROGRESS } from "#shared/protocol/wire.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { answer, callerOf, factsOf } from "#control-plane/http/request.ts";
import { answerError } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { shareAnswer } from "#control-plane/checks/measurements/share-answer.ts";
import { openEventStream, replyWithStream, wantsEvents } from "#control-plane/http/event-stream.ts";
import { refuseUnanswered, type AnsweredCheck } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { readToolRequest } from "#control-plane/checks/tool-requests/read-request.ts";

/** Creates the handler of a tool's route, for every API version. */
export function toolHandler(app: CheckContext, contract: Contract, measurements: Measurements) {
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
