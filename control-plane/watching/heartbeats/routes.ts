import type { IncomingMessage } from "node:http";
import { Type } from "typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { App } from "#control-plane/core/app.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import {
  EXIT_CODES,
  readBodyText,
  readQuerySignal,
  readRunId,
  readTail,
  readUserAgent,
  splitPingPath,
  type Ping,
  type PingSignal,
} from "#control-plane/watching/heartbeats/ping.ts";
import type { PingRecorder } from "#control-plane/watching/heartbeats/pings/recorder.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import type { Readable } from "node:stream";

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

const PLAIN_QUERY = Type.Object({
  ...QUERY.properties,
  exit: Type.Optional(
    Type.String({ examples: ["0"], description: "Exit code of the job, as at the end of the path; 0 is success" }),
  ),
  status: Type.Optional(
    Type.String({
      examples: ["ok"],
      description: "down, fail, failed or error, in upper or lower case: the job has failed. Other values are ignored",
    }),
  ),
  state: Type.Optional(Type.String({ examples: ["ok"], description: "The same as status" })),
});

const DESCRIPTION =
  "Any body is stored with the ping, up to 10 KB of it. The answer is the same whether the address exists or not. At " +
  "most 30 pings a minute from one client address get this answer; further ones are recorded, without their bodies, and " +
  "answered with 429.";

const NO_TAIL =
  `Unknown ending of a heartbeat address: no ping was recorded. The token can be followed by /start, /fail, /log, ` +
  `/success or /<exit code>, a decimal integer from ${EXIT_CODES.least} to ${EXIT_CODES.most}.`;

/** Registers /api/heartbeat/<token> and its tails for GET, POST and HEAD, with any content type. */
export function registerHeartbeats(
  server: FastifyInstance,
  { clock, pings }: Pick<App, "clock"> & { readonly pings: Pick<PingRecorder, "record" | "whenSettled"> },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });

  async function receive(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const { token, tail } = splitPingPath(path);
    const signal = tail === "" ? readQuerySignal(request.query as Readonly<Record<string, unknown>>) : readTail(tail);
    // By the path alone, before anything is done with the token: whether it exists does not show.
    if (signal === null) throw new Refusal("not_found", NO_TAIL);
    const { ok, retryAfterSeconds } = visits.take(request.clientAddress);
    const ping = readPing(request, signal, clock.now().getTime(), ok);
    const nextExpected = await pings.record(token, ping, { isMergeable: !ok });
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
        handler: (request, reply) => receive(request, reply, request.params.token),
      });
      scope.route<{ Params: { token: string; signal: string } }>({
        method,
        url: `${URL}/:token/:signal`,
        schema: describe(
          method,
          "_signal",
          "Send a ping with a signal: start, fail, log, success (in upper or lower case), or the exit code of the job",
        ),
        handler: (request, reply) => receive(request, reply, `${request.params.token}/${request.params.signal}`),
      });
      scope.route<{ Params: { "*": string } }>({
        method,
        url: `${URL}/*`,
        schema: { hide: true },
        handler: (request, reply) => receive(request, reply, request.params["*"]),
      });
    }
  });
}

function readPing(request: FastifyRequest, signal: PingSignal, receivedAt: number, keepsBody: boolean): Ping {
  const { rid } = request.query as { readonly rid?: unknown };
  const start = request.body as BodyStart | null | undefined;
  const hasBody = start != null && start.bytes.length > 0;
  return {
    ...signal,
    receivedAt,
    rid: readRunId(rid),
    method: request.method,
    remoteAddr: request.clientAddress,
    userAgent: readUserAgent(request.headers["user-agent"]),
    body: hasBody && keepsBody ? readBodyText(start.bytes) : null,
    isBodyTruncated: hasBody && (start.isTruncated || !keepsBody),
  };
}

function describe(method: "GET" | "POST" | "HEAD", suffix: "" | "_signal", summary: string) {
  return {
    ...operation({
      id: `${method === "GET" ? "ping" : method === "POST" ? "post_ping" : "head_ping"}${suffix}`,
      tag: "Heartbeats",
      summary,
      description: DESCRIPTION,
      security: "none",
      plain: "application/json",
      data: ANSWER,
      query: suffix === "" ? PLAIN_QUERY : QUERY,
      errors: [...(suffix === "" ? [] : (["not_found"] as const)), "rate_limit_exceeded", "service_unavailable"],
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

/** The first part of a body. */
interface BodyStart {
  readonly bytes: Buffer;
  /** Whether the body is longer. */
  readonly isTruncated: boolean;
}

/** Maximum number of bytes of a body that are kept (10 KB). */
const KEPT_BYTES = 10_240;

/**
 * Reads the first bytes of a body. It does not wait for the rest of a longer one, which the server discards before it
 * answers. Rejects if the client disconnects earlier.
 */
function readBodyStart(body: Readable): Promise<BodyStart> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      body.off("data", add).off("end", end).off("error", fail).off("close", cut);
    };
    const end = (): void => {
      stop();
      const all = Buffer.concat(chunks);
      resolve({ bytes: all.subarray(0, KEPT_BYTES), isTruncated: all.length > KEPT_BYTES });
    };
    const fail = (error: Error): void => {
      stop();
      reject(error);
    };
    const cut = (): void => fail(new Error("the client disconnected"));
    const add = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= KEPT_BYTES) return;
      body.pause();
      end();
    };
    body.on("data", add).on("end", end).on("error", fail).on("close", cut);
  });
}
