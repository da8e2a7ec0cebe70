import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { Refusal } from "#control-plane/http/errors.ts";

/** Maximum number of requests of one connection in work at the same time. */
const MOST_IN_WORK = 8;
/** Maximum number of unanswered requests of one connection, those in work included. Each takes about 5 KB. */
const MOST_UNANSWERED = 32;
/** A client with more than this number of refused requests is disconnected immediately. */
const MOST_REFUSED = 32;

/** The unanswered requests of one connection. */
interface Pipeline {
  inWork: number;
  refused: number;
  /** Functions that start the waiting requests, oldest first. */
  readonly waiting: (() => void)[];
}

declare module "fastify" {
  interface FastifyRequest {
    /** Pipeline of the connection while this request is in work; else null. */
    pipeline: Pipeline | null;
  }
}

/**
 * Limits the unanswered requests of one connection (RFC 9112, section 9.3.2): MOST_IN_WORK run, others wait up to
 * MOST_UNANSWERED, and the next one is refused and ends the connection after the answers before it. Node parses all
 * requests of a read, up to 64 KiB, before the first is answered. Calls `onConnection` with each connection at its first
 * request.
 */
export function limitPipelining(server: FastifyInstance, onConnection: (socket: Socket) => void): void {
  const pipelines = new WeakMap<Socket, Pipeline>();
  server.decorateRequest("pipeline", null);

  server.addHook("onRequest", (request, _reply, done) => {
    const { socket } = request.raw;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) {
      pipeline = { inWork: 0, refused: 0, waiting: [] };
      pipelines.set(socket, pipeline);
      onConnection(socket);
    }
    const { inWork, waiting } = pipeline;
    const begin = (): void => {
      request.pipeline = pipeline;
      done();
    };
    if (inWork < MOST_IN_WORK) {
      pipeline.inWork += 1;
      begin();
    } else if (pipeline.refused === 0 && inWork + waiting.length < MOST_UNANSWERED) {
      waiting.push(begin);
    } else {
      pipeline.refused += 1;
      // The answer to the first refused request ends the connection; the others get no answer.
      if (pipeline.refused === 1) done(tooMany());
      else if (pipeline.refused > MOST_REFUSED) socket.destroy();
    }
  });

  server.addHook("onResponse", (request, _reply, done) => {
    const { pipeline } = request;
    if (pipeline !== null) {
      const next = request.raw.socket.destroyed ? undefined : pipeline.waiting.shift();
      if (next === undefined) pipeline.inWork -= 1;
      else next();
    }
    done();
  });
}

function tooMany(): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message:
      `This connection has more than ${MOST_UNANSWERED} unanswered requests, the limit, and is closed. ` +
      "Read responses before you send more requests.",
    reason: "pipelining",
    headers: { connection: "close", "retry-after": "1" },
  });
}
