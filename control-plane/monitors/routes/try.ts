import { Type } from "typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Nullable } from "#shared/tools/fields.ts";
import { requireRead } from "#control-plane/http/errors.ts";
import { answer, callerOf } from "#control-plane/http/request.ts";
import { whenGone } from "#control-plane/http/gone.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { CHECK_TYPES } from "#control-plane/outages/kinds/kinds.ts";
import { readCreation, readSmall } from "#control-plane/monitors/routes/post.ts";
import { CHECK_AT, FAULT } from "#control-plane/monitors/routes/schemas.ts";
import { parseChange } from "#control-plane/monitors/settings/parse.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";

const Part = (description: string) => Type.Integer({ description: `${description}, milliseconds` });

/** Answer of a try. */
export const TRIED = Type.Object({
  check_type: Type.Enum([...CHECK_TYPES], { description: "What was tried" }),
  checked: Type.Boolean({ description: "false: there is nothing to check of a heartbeat" }),
  verdict: Type.Enum(["up", "degraded", "down", "unknown"], {
    description:
      "What the checks say together, by quorum, without re-checks. degraded: all good answers are slower than " +
      "degraded_ms; unknown: too few checks say something about the target, or they are even",
  }),
  cause: Nullable(
    Type.Object(
      {
        code: Type.String({ description: "Stable word, as in incidents; slow: degraded" }),
        message: Type.String({ description: "The same for people, with the locations" }),
      },
      { description: "Why it is not up; null if it is, or nothing was checked" },
    ),
  ),
  message: Nullable(Type.String({ description: "Why nothing was checked; null if it was" })),
  checks: Type.Array(
    Type.Object({
      ...CHECK_AT,
      timing: Nullable(
        Type.Object(
          {
            redirect_ms: Part("All responses before the final one"),
            dns_ms: Part("Look-up of the name"),
            connect_ms: Part("TCP connection"),
            tls_ms: Part("TLS handshake"),
            processing_ms: Part("From the request to the first byte of the answer"),
          },
          { description: "Parts of response_time_ms for http, keyword, tcp, grpc and websocket; null for others" },
        ),
      ),
      error: Nullable(
        Type.Object(
          { ...FAULT, message: Type.String({ description: "Cause for people" }) },
          { description: "Cause of a failure; null: none" },
        ),
      ),
    }),
    { description: "One check from each location of the monitor; none of a heartbeat or a composite" },
  ),
  next_runs: Nullable(
    Type.Array(Type.String({ format: "date-time" }), {
      description: "heartbeat with cron: its next five runs; null for others",
    }),
  ),
});

/**
 * Runs the monitor of a body once, or the one with an id as the body would change it, and answers what its checks found.
 * Nothing is stored, also not under an
 * idempotency key.
 */
export async function sendTrial(
  { trials }: { readonly trials: Trials },
  request: FastifyRequest,
  reply: FastifyReply,
  id: number | undefined,
): Promise<FastifyReply> {
  const trier = { accountId: callerOf(request).accountId, signal: whenGone(reply) };
  const written =
    id === undefined
      ? trials.tryMonitor(trier, readCreation(request))
      : trials.tryChange(trier, id, requireRead(parseChange(readSmall(request), "current")));
  const { tried, warnings } = requireWritten(await written);
  return reply.send(answer(request, tried, undefined, warnings));
}
