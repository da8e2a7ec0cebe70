import type { IncomingMessage } from "node:http";
import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { readBodyText, readRunId, readSignal, readUserAgent, type PingSignal } from "#control-plane/heartbeats/ping.ts";
import type { PingRecorder } from "#control-plane/heartbeats/pings/recorder.ts";
import { readBodyStart, type BodyStart } from "#control-plane/heartbeats/read-body.ts";
import { createAddressLimiter } from "#control-plane/limits/address.ts";

/** Maximum number of pings per client address and minute that are answered with their next time. */
const PER_MINUTE = 30;
const URL = "/api/heartbeat";
/** How long a call waits at most for statuses to follow the pings of its account, in milliseconds. */
const SETTLE_MS = 500;

const ANSWER = Type.Object({
  status: Type.Literal("ok", { description: "The ping is recorded, if the address is that of an active heartbeat" }),
  next_ping_expected: Type.Integer({ description: "When the next ping is expected, Unix seconds" }),
});

const QUERY = Type.Object({
  rid: Type.Optional(
    Type.String({
      maxLength: 100,
      examples: ["backup-4711"],
      description: "Id of the run, so that starts and ends of runs at the same time belong together",
    }),
  ),
});

const DESCRIPTION =
  "Any body is stored with the ping, up to 10 KB of it. The answer is the same whether the address exists or not. At " +
  "most 30 pings a minute from one client address get this answer; further ones are recorded, without their bodies, and " +
  "answered with 429.";

/** Dependencies of the endpoint. */
interface HeartbeatRoutesDeps {
  readonly clock: Clock;
  readonly pings: Pick<PingRecorder, "record" | "whenSettled">;
}

/** Registers /api/heartbeat/<token> for GET, POST and HEAD, with any content type. */
export function registerHeartbeats(server: FastifyInstance, { clock, pings }: HeartbeatRoutesDeps): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });

  async function receive(
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
    signal: PingSignal | null,
  ): Promise<FastifyReply> {
    const { ok, retryAfterSeconds } = visits.take(request.clientAddress);
    const ping = readPing(request, signal, clock.now().getTime(), ok);
    const nextExpected = await pings.record(token, { signal, ping }, { isMergeable: !ok });
    // After it is recorded: many jobs behind one address must not look dead.
    if (!ok) throw overLimit(retryAfterSeconds);
    return reply.send({ status: "ok", next_ping_expected: Math.floor(nextExpected / 1_000) });
  }

  // A client that sends a ping and then asks for the status sees what the ping has changed. Only calls with a key of the
  // same account wait: others could see by the time to their answers that a ping to an address changed a status.
  server.addHook("preHandler", async ({ principal }) => {
    const settled = principal === null ? null : pings.whenSettled(principal.accountId);
    if (settled !== null) await waitAtMost(SETTLE_MS, settled, undefined);
  });

  // In a scope of its own: other routes accept JSON and forms only.
  void server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Any type is accepted, also one that is malformed, which Fastify would refuse with 415.
    scope.addHook("onRequest", async ({ raw: { headers } }) => {
      if (headers["content-type"] !== undefined) headers["content-type"] = "application/octet-stream";
    });
    scope.addContentTypeParser("*", (_request: FastifyRequest, payload: IncomingMessage) => readBodyStart(payload));
    for (const method of ["GET", "POST", "HEAD"] as const) {
      scope.route<{ Params: { token: string } }>({
        method,
        url: `${URL}/:token`,
        schema: describe(method, "", "Send a ping: the job has run"),
        handler: (request, reply) => receive(request, reply, request.params.token, readSignal("")),
      });
      scope.route<{ Params: { token: string; signal: string } }>({
        method,
        url: `${URL}/:token/:signal`,
        schema: describe(
          method,
          "_signal",
          "Send a ping with a signal: start, fail, log, or the exit code of the job, 0 to 255",
        ),
        handler: (request, reply) => receive(request, reply, request.params.token, readSignal(request.params.signal)),
      });
      scope.route<{ Params: { "*": string } }>({
        method,
        url: `${URL}/*`,
        schema: { hide: true },
        handler: (request, reply) => receive(request, reply, request.params["*"], null),
      });
    }
  });
}

function readPing(request: FastifyRequest, signal: PingSignal | null, receivedAt: number, keepsBody: boolean) {
  const { rid } = request.query as { readonly rid?: unknown };
  const start = request.body as BodyStart | null | undefined;
  const hasBody = start != null && start.bytes.length > 0;
  return {
    kind: signal?.kind ?? "success",
    exitCode: signal?.exitCode ?? null,
    receivedAt,
    rid: readRunId(rid),
    method: request.method,
    remoteAddr: request.clientAddress,
    userAgent: readUserAgent(request.headers["user-agent"]),
    body: hasBody && keepsBody ? readBodyText(start.bytes) : null,
    isBodyTruncated: hasBody && (start.isTruncated || !keepsBody),
  };
}

function describe(method: "GET" | "POST" | "HEAD", suffix: string, summary: string) {
  return {
    ...operation({
      id: `${method === "GET" ? "ping" : method === "POST" ? "post_ping" : "head_ping"}${suffix}`,
      tag: "Heartbeats",
      summary,
      description: DESCRIPTION,
      security: "none",
      plain: "application/json",
      data: ANSWER,
      query: QUERY,
      errors: ["rate_limit_exceeded", "service_unavailable"],
    }),
    hide: method === "HEAD",
  };
}

function overLimit(retryAfterSeconds: number): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message: `More than ${PER_MINUTE} pings in a minute from your address. The ping of an existing heartbeat is recorded all the same, without its body. Wait ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}
